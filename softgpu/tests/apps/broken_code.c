// SPDX-License-Identifier: MIT
// Damaged code objects through the installed loader: cut off at and around every border of a section, segment or
// table, and with random bits flipped. What loads is launched. Each try is a process of its own; it may end with a
// status, a message of the software GPU's, or a fault that the runtime reports. The loader itself is not proof against
// such files: a crash is the loader's when the same file crashes it alone, before any launch, and is then only counted.
// What must not be is a crash in code of the software GPU, or a try that does not end.
// Arguments: a code object with the kernels "add" and "spin", the number of random tries, the first seed.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { ITEMS = 256, TRY_SECONDS = 60, MOST_CUTS = 1024 };

// How a try ended; statuses of its process.
enum {
    ENDED_WELL = 0,
    REFUSED = 3,
    REPORTED = 4,
    CRASHED_LOADING = 5,
    CRASHED_OUTSIDE = 6,
    CRASHED_INSIDE = 7,
    OUTCOMES
};
static const char *const outcome_names[OUTCOMES] = {[ENDED_WELL] = "ran",
                                                    [REFUSED] = "refused",
                                                    [REPORTED] = "fault reported",
                                                    [CRASHED_LOADING] = "loader crashed",
                                                    [CRASHED_OUTSIDE] = "runtime crashed",
                                                    [CRASHED_INSIDE] = "SOFTWARE GPU CRASHED"};

static volatile sig_atomic_t loading;

struct machine {
    hsa_agent_t gpu, cpu;
    hsa_amd_memory_pool_t host;
};

static hsa_status_t find_agent(hsa_agent_t agent, void *data)
{
    struct machine *m = data;
    hsa_device_type_t type;
    if (hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) == HSA_STATUS_SUCCESS)
        *(type == HSA_DEVICE_TYPE_GPU ? &m->gpu : &m->cpu) = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *data)
{
    struct machine *m = data;
    uint32_t flags = 0;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
        m->host = pool;
    return HSA_STATUS_SUCCESS;
}

// The file that `pc` is of; "" when of none.
static const char *file_of(void *pc)
{
    Dl_info info;
    return dladdr(pc, &info) && info.dli_fname ? info.dli_fname : "";
}

// Whose crash it is: that of the library the fault is in, or when that is the C library, of who called it.
static void on_crash(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info;
    void *pc = NULL, *frames[64];
#if defined(__x86_64__)
    pc = (void *)(uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
    (void)context;
#endif
    const int n = backtrace(frames, 64);
    int at = 0;
    while (at < n && frames[at] != pc)
        at++;
    const char *file = file_of(pc);
    while (strstr(file, "/libc.so") && ++at < n)
        file = file_of(frames[at]);
    const bool inside = strstr(file, "/libhsakmt");
    _exit(inside ? CRASHED_INSIDE : loading ? CRASHED_LOADING : CRASHED_OUTSIDE);
}

// The runtime aborts after it has told of a fault.
static void on_abort(int sig)
{
    (void)sig;
    _exit(loading ? CRASHED_LOADING : REPORTED);
}

static void queue_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    (void)status, (void)queue, (void)data;
    _exit(REPORTED);
}

static void dispatch(hsa_queue_t *queue, uint64_t object, void *arguments)
{
    hsa_signal_t done;
    if (hsa_signal_create(1, 0, NULL, &done) != HSA_STATUS_SUCCESS)
        _exit(REFUSED);
    hsa_kernel_dispatch_packet_t packet = {.setup = 1,
                                           .workgroup_size_x = 64,
                                           .workgroup_size_y = 1,
                                           .workgroup_size_z = 1,
                                           .grid_size_x = ITEMS,
                                           .grid_size_y = 1,
                                           .grid_size_z = 1,
                                           .kernel_object = object,
                                           .kernarg_address = arguments,
                                           .completion_signal = done};
    const uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
    hsa_kernel_dispatch_packet_t *slot =
        (hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;
    memcpy((char *)slot + 4, (char *)&packet + 4, sizeof(packet) - 4);
    const uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1u << HSA_PACKET_HEADER_BARRIER |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE | 1u << 16;
    __atomic_store_n((uint32_t *)(void *)slot, header, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
    while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED))
        ;
}

// In a process of its own.
static int run_try(const void *code, size_t bytes)
{
    struct machine m = {0};
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    hsa_executable_symbol_t symbol;
    hsa_queue_t *queue;
    void *arguments;
    uint64_t object = 0;
    if (hsa_init() != HSA_STATUS_SUCCESS)
        return 1;
    hsa_iterate_agents(find_agent, &m);
    hsa_amd_agent_iterate_memory_pools(m.cpu, find_pool, &m);
    // After the runtime's own start, so that what it installs does not come last.
    struct sigaction crash = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &crash, NULL);
    sigaction(SIGBUS, &crash, NULL);
    sigaction(SIGFPE, &crash, NULL);
    sigaction(SIGILL, &crash, NULL);
    signal(SIGABRT, on_abort);
    void *frame;
    backtrace(&frame, 1); // loads what it needs, which a handler should not
    loading = 1;
    if (hsa_code_object_reader_create_from_memory(code, bytes, &reader) != HSA_STATUS_SUCCESS ||
        hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                  &executable) != HSA_STATUS_SUCCESS ||
        hsa_executable_load_agent_code_object(executable, m.gpu, reader, NULL, NULL) != HSA_STATUS_SUCCESS ||
        hsa_executable_freeze(executable, NULL) != HSA_STATUS_SUCCESS ||
        hsa_executable_get_symbol_by_name(executable, "add.kd", &m.gpu, &symbol) != HSA_STATUS_SUCCESS ||
        hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object) !=
            HSA_STATUS_SUCCESS)
        return REFUSED;
    loading = 0;
    if (hsa_amd_memory_pool_allocate(m.host, 65536, 0, &arguments) != HSA_STATUS_SUCCESS ||
        hsa_amd_agents_allow_access(1, &m.gpu, NULL, arguments) != HSA_STATUS_SUCCESS ||
        hsa_queue_create(m.gpu, 64, HSA_QUEUE_TYPE_MULTI, queue_error, NULL, UINT32_MAX, UINT32_MAX,
                         &queue) != HSA_STATUS_SUCCESS)
        return 1;
    memset(arguments, 0, 65536);
    void *items = (char *)arguments + 4096;
    memcpy(arguments, &items, sizeof items);
    *(unsigned *)(void *)((char *)arguments + 8) = ITEMS;
    dispatch(queue, object, arguments);
    return ENDED_WELL;
}

// The outcome, or -1: it did not end.
static int one_try(const void *code, size_t bytes)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0)
        return -1;
    if (!child) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        _exit(run_try(code, bytes));
    }
    int status;
    for (unsigned ms = 0; waitpid(child, &status, WNOHANG) == 0; ms += 2) {
        if (ms >= TRY_SECONDS * 1000) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : CRASHED_INSIDE;
}

static unsigned counts[OUTCOMES], tries;
static int failures;

static void judge(const char *what, uint64_t where, int outcome)
{
    tries++;
    if (outcome >= 0 && outcome < OUTCOMES && outcome_names[outcome])
        counts[outcome]++;
    if (outcome >= 0 && outcome < CRASHED_INSIDE && outcome_names[outcome] && outcome != CRASHED_OUTSIDE)
        return;
    failures++;
    printf("%s %llu: %s (%d)\n", what, (unsigned long long)where,
           outcome < 0                                    ? "did not end"
           : outcome < OUTCOMES && outcome_names[outcome] ? outcome_names[outcome]
                                                          : "failed",
           outcome);
}

static void add_cut(size_t *cuts, unsigned *n, uint64_t at, size_t bytes)
{
    for (int around = -1; around <= 1; around++) {
        const uint64_t cut = at + (uint64_t)(int64_t)around;
        if (cut < bytes && *n < MOST_CUTS)
            cuts[(*n)++] = cut;
    }
}

static void cut_everywhere(const uint8_t *code, size_t bytes)
{
    static size_t cuts[MOST_CUTS];
    unsigned n = 0;
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)code;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(code + header->e_shoff);
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(const void *)(code + header->e_phoff);
    add_cut(cuts, &n, 1, bytes);
    add_cut(cuts, &n, sizeof *header, bytes);
    add_cut(cuts, &n, bytes - 1, bytes);
    for (unsigned i = 0; i <= header->e_phnum; i++)
        add_cut(cuts, &n, header->e_phoff + i * sizeof *segments, bytes);
    for (unsigned i = 0; i <= header->e_shnum; i++)
        add_cut(cuts, &n, header->e_shoff + i * sizeof *sections, bytes);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        add_cut(cuts, &n, sections[i].sh_offset, bytes);
        if (sections[i].sh_type != SHT_NOBITS)
            add_cut(cuts, &n, sections[i].sh_offset + sections[i].sh_size, bytes);
    }
    const long page = sysconf(_SC_PAGESIZE);
    for (unsigned i = 0; i < n; i++) {
        bool again = false;
        for (unsigned k = 0; k < i; k++)
            again |= cuts[k] == cuts[i];
        if (again)
            continue;
        // Once where memory ends with the file, so that a read behind it shows, and once with zeros behind it, which
        // lets more files through the loader: it takes sizes from the file.
        const size_t whole = (cuts[i] + (size_t)page - 1) / (size_t)page * (size_t)page;
        uint8_t *memory =
            mmap(NULL, whole + (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        uint8_t *zeros = calloc(1, bytes);
        if (memory == MAP_FAILED || !zeros || mprotect(memory + whole, (size_t)page, PROT_NONE)) {
            failures++;
            return;
        }
        uint8_t *copy = memory + (whole - cuts[i]) / 16 * 16;
        memcpy(copy, code, cuts[i]);
        judge("cut at", cuts[i], one_try(copy, cuts[i]));
        memcpy(zeros, code, cuts[i]);
        judge("zeros from", cuts[i], one_try(zeros, cuts[i]));
        munmap(memory, whole + (size_t)page);
        free(zeros);
    }
}

static uint64_t noise(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

// A byte that means something: headers, tables and the contents of sections all have the same chance.
static uint64_t choose(const uint8_t *code, uint64_t *seed)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)code;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(code + header->e_shoff);
    const uint64_t n = noise(seed) % (header->e_shnum + 3u);
    if (n == 0)
        return noise(seed) % sizeof *header;
    if (n == 1)
        return header->e_phoff + noise(seed) % (header->e_phnum * sizeof(Elf64_Phdr));
    if (n == 2)
        return header->e_shoff + noise(seed) % (header->e_shnum * sizeof *sections);
    const Elf64_Shdr *section = &sections[n - 3];
    if (section->sh_type == SHT_NOBITS || !section->sh_size)
        return choose(code, seed);
    return section->sh_offset + noise(seed) % section->sh_size;
}

static void flip(const uint8_t *code, size_t bytes, unsigned n, uint64_t first_seed)
{
    uint8_t *copy = malloc(bytes);
    for (unsigned i = 0; copy && i < n; i++) {
        uint64_t seed = (first_seed + i) * 0x9e3779b97f4a7c15ull | 1;
        memcpy(copy, code, bytes);
        const unsigned flips = 1 + (unsigned)(noise(&seed) % 4);
        for (unsigned k = 0; k < flips; k++) {
            const uint64_t at = choose(code, &seed);
            copy[at] ^= (uint8_t)(1u << (noise(&seed) & 7));
        }
        judge("flips of seed", first_seed + i, one_try(copy, bytes));
    }
    failures += !copy;
    free(copy);
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *code = malloc(*bytes);
    if (code && fread(code, 1, *bytes, file) != *bytes) {
        free(code);
        code = NULL;
    }
    fclose(file);
    return code;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    size_t bytes;
    uint8_t *code = read_file(argv[1], &bytes);
    if (!code)
        return 2;
    const int whole = one_try(code, bytes);
    if (whole != ENDED_WELL) {
        printf("the undamaged file: %d\n", whole);
        return 1;
    }
    cut_everywhere(code, bytes);
    const unsigned cuts = tries;
    flip(code, bytes, (unsigned)strtoul(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
    printf("%u cuts, %u files with flipped bits:", cuts, tries - cuts);
    for (unsigned i = 0; i < OUTCOMES; i++)
        if (counts[i])
            printf(" %u %s,", counts[i], outcome_names[i]);
    printf(" %d failures\n", failures);
    free(code);
    if (!failures)
        puts("broken_code: all right");
    return failures != 0;
}

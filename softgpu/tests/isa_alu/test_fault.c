// SPDX-License-Identifier: MIT
// What cannot be executed names itself: words, mnemonic when known, kernel, address.
#include "softgpu/tests/isa_alu/bare_wave.h"

#include <stdio.h>

static void unknown_words_are_named(void **state)
{
    (void)state;
    static struct bare b;
    bare_init(&b);
    b.launch.kernel_name = "my_kernel";
    static const uint32_t code[] = {0xbf800000, 0xd27f0001, 0x00020304};
    assert_int_equal(bare_run(&b, code, 3), SG_STEP_FAULT);
    assert_int_equal(b.fault.kind, SG_FAULT_ILLEGAL);
    assert_int_equal(b.fault.pc, (uintptr_t)&code[1]);
    char address[32];
    snprintf(address, sizeof(address), "0x%llx", (unsigned long long)(uintptr_t)&code[1]);
    assert_non_null(strstr(b.fault.text, "d27f0001 00020304"));
    assert_non_null(strstr(b.fault.text, "my_kernel"));
    assert_non_null(strstr(b.fault.text, address));
}

static void known_but_missing_is_named(void **state)
{
    (void)state;
    static struct bare b;
    bare_init(&b);
    sopc("s_setvskip", 0, 0);
    assert_int_equal(bare_go(&b), SG_STEP_FAULT);
    assert_int_equal(b.fault.kind, SG_FAULT_ILLEGAL);
    assert_non_null(strstr(b.fault.text, "s_setvskip"));
}

// Words that end in the middle of an instruction, registers outside their file, literals where there are
// none.
static void malformed_encodings_do_not_decode(void **state)
{
    (void)state;
    struct sg_inst inst;
    assert_int_equal(sg_decode((const uint32_t[]){0x020000ff}, 1, &inst), 0); // literal missing
    assert_int_equal(sg_decode((const uint32_t[]){0xd1cb0000}, 1, &inst), 0); // second dword missing
    assert_int_equal(sg_decode((const uint32_t[]){0xd28000ff, 0x00021508}, 2, &inst), 0); // v[255:256]
    assert_int_equal(sg_decode((const uint32_t[]){0xd1cb0000, 0x04021eff}, 2, &inst), 0); // VOP3 literal
    assert_int_equal(sg_decode((const uint32_t[]){0x7e0002d5}, 1, &inst), 0);             // reserved source
    assert_int_equal(sg_decode((const uint32_t[]){0xc4000000, 0}, 2, &inst), 0);          // export
    assert_int_equal(sg_decode(NULL, 0, &inst), 0);
}

// Any words at all: no crash, and lengths that stay inside what was given.
static void random_words_are_safe(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252ull;
    for (unsigned i = 0; i < 2000000; i++) {
        uint32_t words[2];
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        memcpy(words, &seed, 8);
        struct sg_inst inst;
        const size_t avail = 1 + i % 2;
        const int n = sg_decode(words, avail, &inst);
        assert_true(n >= 0 && (size_t)n <= avail);
        assert_int_equal(n == 0, inst.info == NULL);
    }
}

// Any scalar or vector ALU instruction on any registers: meant for the sanitizers, and no step value but the
// known.
static void random_alu_instructions_are_safe(void **state)
{
    (void)state;
    static struct bare b;
    bare_init(&b);
    uint64_t seed = 0x853c49e6748fea9bull;
    unsigned executed = 0;
    for (unsigned i = 0; i < 400000; i++) {
        uint32_t words[2];
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        memcpy(words, &seed, 8);
        if (i & 1)
            words[0] = 0xd0000000u | (words[0] & 0x03ffffff); // VOP3 and VOP3P
        struct sg_inst inst;
        if (!sg_decode(words, 2, &inst) || inst.info->encoding > SG_ENC_VOP3P ||
            inst.info->encoding == SG_ENC_SMEM || !inst.info->exec)
            continue;
        const enum sg_step step = inst.info->exec(&b.wave, &inst);
        assert_in_range(step, SG_STEP_OK, SG_STEP_FAULT);
        executed++;
    }
    assert_true(executed > 50000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_words_are_named),           cmocka_unit_test(known_but_missing_is_named),
        cmocka_unit_test(malformed_encodings_do_not_decode), cmocka_unit_test(random_words_are_safe),
        cmocka_unit_test(random_alu_instructions_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
// Routines of librocsparse against loops on the host. All values are small integers, so that results are
// exact whatever the order of sums; the triangular solves divide by ones.
#include "../apps/check.hpp"

#include <rocsparse/rocsparse.h>

#define CHECK_SPARSE(call)                                                                                   \
    do {                                                                                                     \
        const rocsparse_status status_ = (call);                                                             \
        if (status_ != rocsparse_status_success) {                                                           \
            std::fprintf(stderr, "%s: %d\n", #call, (int)status_);                                           \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

typedef std::vector<int> ints;
typedef std::vector<float> floats;

struct csr {
    int rows, columns;
    ints start, column;
    floats value;
    int n() const { return (int)column.size(); }
};

static size_t wrong_in(const char *name, size_t wrong)
{
    if (wrong)
        std::printf("%s: %zu wrong\n", name, wrong);
    return wrong;
}

static floats small_values(random_source &random, size_t n)
{
    floats v(n);
    for (float &x : v)
        x = (float)((int)random.below(15) - 7);
    return v;
}

static csr random_matrix(random_source &random, int rows, int columns, unsigned one_in)
{
    csr a{rows, columns, {0}, {}, {}};
    for (int i = 0; i < rows; i++) {
        const bool heavy = i % 29 == 5;
        for (int j = 0; j < columns; j++)
            if (random.below(heavy ? 2 : one_in) == 0) {
                a.column.push_back(j);
                a.value.push_back((float)(1 + (int)random.below(9)) * (random.below(2) ? 1.0f : -1.0f));
            }
        a.start.push_back(a.n());
    }
    return a;
}

static floats dense(const csr &a)
{
    floats d((size_t)a.rows * a.columns);
    for (int i = 0; i < a.rows; i++)
        for (int k = a.start[i]; k < a.start[i + 1]; k++)
            d[(size_t)i * a.columns + a.column[k]] += a.value[k];
    return d;
}

static floats product(const csr &a, const floats &x, float alpha, float beta, const floats &y)
{
    floats r(y);
    for (int i = 0; i < a.rows; i++) {
        float sum = 0;
        for (int k = a.start[i]; k < a.start[i + 1]; k++)
            sum += a.value[k] * x[a.column[k]];
        r[i] = alpha * sum + beta * y[i];
    }
    return r;
}

static rocsparse_handle handle;
static rocsparse_mat_descr plain;
static const float two = 2, three = 3;
static const rocsparse_operation as_is = rocsparse_operation_none;
static const rocsparse_index_base base0 = rocsparse_index_base_zero;

// axpyi, doti, gthr, gthrz, sctr
static size_t level1(random_source &random)
{
    constexpr int n = 500, nnz = 120;
    ints index;
    for (int i = 0; i < nnz; i++)
        index.push_back(4 * i + (int)random.below(4));
    const floats x = small_values(random, nnz), y = small_values(random, n);
    gpu_array<int> di(index);
    gpu_array<float> dx(x), dy(y), gathered(nnz), scattered(y), zeroed(y), taken(nnz);
    float dot = 0, want_dot = 0;
    floats want_y(y), want_gather(nnz), want_scatter(y), want_zeroed(y);
    for (int i = 0; i < nnz; i++) {
        want_y[index[i]] += 2 * x[i];
        want_dot += x[i] * y[index[i]];
        want_gather[i] = y[index[i]];
        want_scatter[index[i]] = x[i];
        want_zeroed[index[i]] = 0;
    }
    CHECK_SPARSE(rocsparse_sdoti(handle, nnz, dx, di, dy, &dot, base0));
    CHECK_SPARSE(rocsparse_sgthr(handle, nnz, dy, gathered, di, base0));
    CHECK_SPARSE(rocsparse_sgthrz(handle, nnz, zeroed, taken, di, base0));
    CHECK_SPARSE(rocsparse_ssctr(handle, nnz, dx, di, scattered, base0));
    CHECK_SPARSE(rocsparse_saxpyi(handle, nnz, &two, dx, di, dy, base0));
    size_t wrong = wrong_in("doti", dot != want_dot);
    wrong += wrong_in("gthr", count_unequal(gathered.host(), want_gather));
    wrong += wrong_in("gthrz",
                      count_unequal(taken.host(), want_gather) + count_unequal(zeroed.host(), want_zeroed));
    wrong += wrong_in("sctr", count_unequal(scattered.host(), want_scatter));
    return wrong + wrong_in("axpyi", count_unequal(dy.host(), want_y));
}

// csrmv with and without analysis, coomv, ellmv
static size_t vectors(random_source &random)
{
    const csr a = random_matrix(random, 300, 220, 20);
    const floats x = small_values(random, a.columns), y = small_values(random, a.rows);
    const floats want = product(a, x, 2, 3, y);
    gpu_array<int> start(a.start), column(a.column), row(a.n());
    gpu_array<float> value(a.value), dx(x), general(y), adaptive(y), coordinates(y), padded(y);
    CHECK_SPARSE(rocsparse_scsrmv(handle, as_is, a.rows, a.columns, a.n(), &two, plain, value, start, column,
                                  nullptr, dx, &three, general));
    rocsparse_mat_info info;
    CHECK_SPARSE(rocsparse_create_mat_info(&info));
    CHECK_SPARSE(rocsparse_scsrmv_analysis(handle, as_is, a.rows, a.columns, a.n(), plain, value, start,
                                           column, info));
    CHECK_SPARSE(rocsparse_scsrmv(handle, as_is, a.rows, a.columns, a.n(), &two, plain, value, start, column,
                                  info, dx, &three, adaptive));
    CHECK_SPARSE(rocsparse_destroy_mat_info(info));
    CHECK_SPARSE(rocsparse_csr2coo(handle, start, a.n(), a.rows, row, base0));
    CHECK_SPARSE(rocsparse_scoomv(handle, as_is, a.rows, a.columns, a.n(), &two, plain, value, row, column,
                                  dx, &three, coordinates));
    ints want_row;
    int width = 0;
    for (int i = 0; i < a.rows; i++) {
        want_row.insert(want_row.end(), a.start[i + 1] - a.start[i], i);
        width = a.start[i + 1] - a.start[i] > width ? a.start[i + 1] - a.start[i] : width;
    }
    ints ell_column((size_t)width * a.rows, -1);
    floats ell_value(ell_column.size());
    for (int i = 0; i < a.rows; i++)
        for (int k = a.start[i]; k < a.start[i + 1]; k++) {
            ell_column[(size_t)(k - a.start[i]) * a.rows + i] = a.column[k];
            ell_value[(size_t)(k - a.start[i]) * a.rows + i] = a.value[k];
        }
    gpu_array<int> dell(ell_column);
    gpu_array<float> dell_value(ell_value);
    CHECK_SPARSE(rocsparse_sellmv(handle, as_is, a.rows, a.columns, &two, plain, dell_value, dell, width, dx,
                                  &three, padded));
    size_t wrong = wrong_in("csrmv", count_unequal(general.host(), want));
    wrong += wrong_in("csrmv adaptive", count_unequal(adaptive.host(), want));
    wrong += wrong_in("csr2coo", count_unequal(row.host(), want_row));
    wrong += wrong_in("coomv", count_unequal(coordinates.host(), want));
    return wrong + wrong_in("ellmv", count_unequal(padded.host(), want));
}

// coo2csr, csr2csc, nnz, dense2csr
static size_t conversions(random_source &random)
{
    const csr a = random_matrix(random, 90, 130, 9);
    ints row, want_rows, want_start{0};
    floats want_values;
    for (int i = 0; i < a.rows; i++)
        row.insert(row.end(), a.start[i + 1] - a.start[i], i);
    for (int j = 0; j < a.columns; j++) {
        for (int k = 0; k < a.n(); k++)
            if (a.column[k] == j) {
                want_rows.push_back(row[k]);
                want_values.push_back(a.value[k]);
            }
        want_start.push_back((int)want_rows.size());
    }
    gpu_array<int> start(a.start), column(a.column), drow(row), back(a.rows + 1), csc_row(a.n()),
        csc_start(a.columns + 1);
    gpu_array<float> value(a.value), csc_value(a.n());
    size_t bytes = 0;
    CHECK_SPARSE(rocsparse_coo2csr(handle, drow, a.n(), a.rows, back, base0));
    CHECK_SPARSE(rocsparse_csr2csc_buffer_size(handle, a.rows, a.columns, a.n(), start, column,
                                               rocsparse_action_numeric, &bytes));
    gpu_array<char> buffer(bytes);
    CHECK_SPARSE(rocsparse_scsr2csc(handle, a.rows, a.columns, a.n(), value, start, column, csc_value,
                                    csc_row, csc_start, rocsparse_action_numeric, base0, buffer));
    floats by_column((size_t)a.rows * a.columns);
    const floats by_row = dense(a);
    ints counts;
    for (int i = 0; i < a.rows; i++) {
        counts.push_back(a.start[i + 1] - a.start[i]);
        for (int j = 0; j < a.columns; j++)
            by_column[(size_t)j * a.rows + i] = by_row[(size_t)i * a.columns + j];
    }
    gpu_array<float> matrix(by_column), new_value(a.n());
    gpu_array<int> per_row(a.rows), new_start(a.rows + 1), new_column(a.n());
    int total = 0;
    CHECK_SPARSE(rocsparse_snnz(handle, rocsparse_direction_row, a.rows, a.columns, plain, matrix, a.rows,
                                per_row, &total));
    CHECK_SPARSE(rocsparse_sdense2csr(handle, a.rows, a.columns, plain, matrix, a.rows, per_row, new_value,
                                      new_start, new_column));
    size_t wrong = wrong_in("coo2csr", count_unequal(back.host(), a.start));
    wrong += wrong_in("csr2csc", count_unequal(csc_row.host(), want_rows) +
                                     count_unequal(csc_start.host(), want_start) +
                                     count_unequal(csc_value.host(), want_values));
    wrong += wrong_in("nnz", (total != a.n()) + count_unequal(per_row.host(), counts));
    return wrong + wrong_in("dense2csr", count_unequal(new_start.host(), a.start) +
                                             count_unequal(new_column.host(), a.column) +
                                             count_unequal(new_value.host(), a.value));
}

// csrmm with a dense matrix by columns, csrgemm with a sparse one
static size_t products(random_source &random)
{
    const csr a = random_matrix(random, 80, 70, 8), b = random_matrix(random, 70, 60, 8);
    constexpr int wide = 24;
    const floats x = small_values(random, (size_t)a.columns * wide),
                 y = small_values(random, (size_t)a.rows * wide);
    floats want;
    for (int j = 0; j < wide; j++) {
        const floats r = product(a, floats(x.begin() + j * a.columns, x.begin() + (j + 1) * a.columns), 2, 3,
                                 floats(y.begin() + j * a.rows, y.begin() + (j + 1) * a.rows));
        want.insert(want.end(), r.begin(), r.end());
    }
    gpu_array<int> a_start(a.start), a_column(a.column), b_start(b.start), b_column(b.column),
        c_start(a.rows + 1);
    gpu_array<float> a_value(a.value), b_value(b.value), dx(x), dy(y);
    CHECK_SPARSE(rocsparse_scsrmm(handle, as_is, as_is, a.rows, wide, a.columns, a.n(), &two, plain, a_value,
                                  a_start, a_column, dx, a.columns, &three, dy, a.rows));
    size_t bytes = 0;
    int n = 0;
    rocsparse_mat_info info;
    CHECK_SPARSE(rocsparse_create_mat_info(&info));
    CHECK_SPARSE(rocsparse_scsrgemm_buffer_size(handle, as_is, as_is, a.rows, b.columns, a.columns, &two,
                                                plain, a.n(), a_start, a_column, plain, b.n(), b_start,
                                                b_column, nullptr, plain, 0, nullptr, nullptr, info, &bytes));
    gpu_array<char> buffer(bytes);
    CHECK_SPARSE(rocsparse_csrgemm_nnz(handle, as_is, as_is, a.rows, b.columns, a.columns, plain, a.n(),
                                       a_start, a_column, plain, b.n(), b_start, b_column, plain, 0, nullptr,
                                       nullptr, plain, c_start, &n, info, buffer));
    gpu_array<int> c_column(n);
    gpu_array<float> c_value(n);
    CHECK_SPARSE(rocsparse_scsrgemm(handle, as_is, as_is, a.rows, b.columns, a.columns, &two, plain, a.n(),
                                    a_value, a_start, a_column, plain, b.n(), b_value, b_start, b_column,
                                    nullptr, plain, 0, nullptr, nullptr, nullptr, plain, c_value, c_start,
                                    c_column, info, buffer));
    CHECK_SPARSE(rocsparse_destroy_mat_info(info));
    const csr c{a.rows, b.columns, c_start.host(), c_column.host(), c_value.host()};
    const floats da = dense(a), db = dense(b);
    floats sparse_want((size_t)a.rows * b.columns);
    for (int i = 0; i < a.rows; i++)
        for (int j = 0; j < b.columns; j++)
            for (int k = 0; k < a.columns; k++)
                sparse_want[(size_t)i * b.columns + j] +=
                    2 * da[(size_t)i * a.columns + k] * db[(size_t)k * b.columns + j];
    size_t wrong = wrong_in("csrmm", count_unequal(dy.host(), want));
    return wrong + wrong_in("csrgemm", count_unequal(dense(c), sparse_want));
}

// csrsv, lower triangle with a unit diagonal
static size_t triangle(random_source &random)
{
    constexpr int n = 120;
    csr a{n, n, {0}, {}, {}};
    floats x(n), want(n);
    for (int i = 0; i < n; i++) {
        x[i] = (float)((int)random.below(15) - 7);
        want[i] = 2 * x[i];
        for (int j = i > 4 ? i - 4 : 0; j < i; j++)
            if (random.below(2)) {
                a.column.push_back(j);
                a.value.push_back(fabsf(want[j]) > 1e5f ? 0.0f : random.below(2) ? 1.0f : -1.0f);
                want[i] -= a.value.back() * want[j];
            }
        a.column.push_back(i);
        a.value.push_back(1);
        a.start.push_back(a.n());
    }
    rocsparse_mat_descr lower;
    rocsparse_mat_info info;
    CHECK_SPARSE(rocsparse_create_mat_descr(&lower));
    CHECK_SPARSE(rocsparse_set_mat_fill_mode(lower, rocsparse_fill_mode_lower));
    CHECK_SPARSE(rocsparse_create_mat_info(&info));
    gpu_array<int> start(a.start), column(a.column);
    gpu_array<float> value(a.value), dx(x), dy(n);
    size_t bytes = 0;
    CHECK_SPARSE(
        rocsparse_scsrsv_buffer_size(handle, as_is, n, a.n(), lower, value, start, column, info, &bytes));
    gpu_array<char> buffer(bytes);
    CHECK_SPARSE(rocsparse_scsrsv_analysis(handle, as_is, n, a.n(), lower, value, start, column, info,
                                           rocsparse_analysis_policy_force, rocsparse_solve_policy_auto,
                                           buffer));
    CHECK_SPARSE(rocsparse_scsrsv_solve(handle, as_is, n, a.n(), &two, lower, value, start, column, info, dx,
                                        dy, rocsparse_solve_policy_auto, buffer));
    const floats got = dy.host();
    CHECK_SPARSE(rocsparse_destroy_mat_info(info));
    CHECK_SPARSE(rocsparse_destroy_mat_descr(lower));
    return wrong_in("csrsv", count_unequal(got, want));
}

int main()
{
    CHECK_SPARSE(rocsparse_create_handle(&handle));
    CHECK_SPARSE(rocsparse_create_mat_descr(&plain));
    random_source random;
    size_t wrong =
        level1(random) + vectors(random) + conversions(random) + products(random) + triangle(random);
    CHECK_SPARSE(rocsparse_destroy_mat_descr(plain));
    CHECK_SPARSE(rocsparse_destroy_handle(handle));
    return report("rocsparse", wrong);
}

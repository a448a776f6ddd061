// SPDX-License-Identifier: MIT
// rocblas_sgemm of small whole numbers, where every sum is exact, against the host: plain, transposed, and with all of
// alpha, beta and sizes that fill no tile.
#include "check.hpp"

#include <rocblas/rocblas.h>

static size_t multiply(rocblas_handle handle, rocblas_operation op, int m, int n, int k, float alpha,
                       float beta)
{
    std::vector<float> a(m * k), b(k * n), c(m * n);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = float(i * 7 % 11) - 5;
    for (size_t i = 0; i < b.size(); i++)
        b[i] = float(i * 5 % 13) - 6;
    for (size_t i = 0; i < c.size(); i++)
        c[i] = float(i % 17);
    gpu_array<float> da(a), db(b), dc(c);
    const bool turned = op == rocblas_operation_transpose;
    if (rocblas_sgemm(handle, op, rocblas_operation_none, m, n, k, &alpha, da, turned ? k : m, db, k, &beta,
                      dc, m))
        return 1;
    const auto got = dc.host();
    size_t wrong = 0;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int l = 0; l < k; l++)
                sum += (turned ? a[i * k + l] : a[i + l * m]) * b[l + j * k];
            wrong += got[i + j * m] != alpha * sum + beta * c[i + j * m];
        }
    }
    return wrong;
}

int main()
{
    rocblas_handle handle;
    if (rocblas_create_handle(&handle))
        return report("sgemm", 1);
    size_t wrong = multiply(handle, rocblas_operation_none, 96, 80, 64, 1, 0);
    wrong += multiply(handle, rocblas_operation_transpose, 128, 128, 32, 2, 1);
    wrong += multiply(handle, rocblas_operation_none, 37, 61, 23, 1, -1);
    rocblas_destroy_handle(handle);
    return report("sgemm", wrong);
}

#version 450
// C[N,M] = A[N,K] B[K,M] for any sizes: one invocation for `rows` numbers of a column. A program sets the specialization
// constants; docs/sample/product.lua tunes them, docs/sample/run_tuned.c takes them from a table.
layout(local_size_x_id = 0, local_size_y_id = 1) in; // "columns", "groups"
layout(constant_id = 2) const uint rows = 1;         // "rows"
layout(std430, binding = 0) restrict readonly buffer A { float a[]; };
layout(std430, binding = 1) restrict readonly buffer B { float b[]; };
layout(std430, binding = 2) restrict writeonly buffer C { float c[]; };
layout(push_constant) uniform Sizes { uint n, m, k; };

void main()
{
    const uint column = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y * rows;
    if (column >= m)
        return;
    for (uint i = row; i < min(row + rows, n); i++) {
        float sum = 0.0;
        for (uint j = 0; j < k; j++)
            sum += a[i * k + j] * b[j * m + column];
        c[i * m + column] = sum;
    }
}

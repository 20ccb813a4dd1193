#version 450
% local rows, columns = c.rows[3], c.columns[3]
layout(local_size_x = ${c.columns[2]}, local_size_y = ${c.rows[2]}) in;
layout(std430, binding = 0) restrict readonly buffer A { float a[]; };  // N rows of K
layout(std430, binding = 1) restrict readonly buffer B { float b[]; };  // K rows of M
layout(std430, binding = 2) restrict writeonly buffer C { float c[]; }; // N rows of M

void main()
{
    const uint row = gl_GlobalInvocationID.y * ${rows}, column = gl_GlobalInvocationID.x * ${columns};
% for i = 0, rows - 1 do
%   for j = 0, columns - 1 do
    float sum_${i}_${j} = 0.0;
%   end
% end
    for (uint k = 0; k < ${K}; k += ${c.unroll}) {
% for u = 0, c.unroll - 1 do
%   for i = 0, rows - 1 do
%     for j = 0, columns - 1 do
        sum_${i}_${j} += a[(row + ${i}) * ${K} + k + ${u}] * b[(k + ${u}) * ${M} + column + ${j}];
%     end
%   end
% end
    }
% for i = 0, rows - 1 do
%   for j = 0, columns - 1 do
    c[(row + ${i}) * ${M} + column + ${j}] = sum_${i}_${j};
%   end
% end
}

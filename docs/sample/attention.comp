#version 450
// P[head, row, column] = softmax over columns of ${scale} * Q[head, row] . K[head, column]
% local number = c.vector == 1 and "float" or "vec" .. c.vector
% local function product(a, b) return c.vector == 1 and a .. " * " .. b or "dot(" .. a .. ", " .. b .. ")" end
layout(local_size_x = ${c.lanes}, local_size_y = ${c.rows}) in; // invocations of a query, queries

layout(std430, binding = ${op.bindings.Q}) restrict readonly buffer Queries { ${number} queries[]; };
layout(std430, binding = ${op.bindings.K}) restrict readonly buffer Keys { ${number} keys[]; };
layout(std430, binding = ${op.bindings.P}) restrict writeonly buffer Scores { float scores[]; };

shared ${number} query[${c.rows * vectors}];
shared float score[${c.rows * M}];
shared float part[${threads}];
% if c.keys == "shared" then
shared ${number} key[${c.lanes * pitch}];
% end

#define lane gl_LocalInvocationID.x
#define row gl_LocalInvocationID.y
% local function reduction(name, join)

float ${name}_of_row(float value)
{
    barrier();
    part[gl_LocalInvocationIndex] = value;
    barrier();
%   local half_way = c.lanes // 2
%   while half_way > 0 do
    if (lane < ${half_way})
        part[gl_LocalInvocationIndex] = ${join(half_way)};
    barrier();
%     half_way = half_way // 2
%   end
    return part[row * ${c.lanes}];
}
% end
% local mine, others = "part[gl_LocalInvocationIndex]", "part[gl_LocalInvocationIndex + "
% reduction("largest", function(n) return "max(" .. mine .. ", " .. others .. n .. "])" end)
% reduction("sum", function(n) return mine .. " + " .. others .. n .. "]" end)

void main()
{
    const uint head = gl_WorkGroupID.y, first_row = gl_WorkGroupID.x * ${c.rows};
    for (uint i = gl_LocalInvocationIndex; i < ${c.rows * vectors}; i += ${threads}) {
        const uint there = min(first_row + i / ${vectors}, ${N - 1});
        query[i] = queries[(head * ${N} + there) * ${vectors} + i % ${vectors}];
    }
    barrier();

    float largest = -3.4e38;
    for (uint block = 0; block < ${M}; block += ${c.lanes}) {
% if c.keys == "shared" then
        for (uint i = gl_LocalInvocationIndex; i < ${c.lanes * vectors}; i += ${threads}) {
            const uint there = min(block + i / ${vectors}, ${M - 1});
            key[i / ${vectors} * ${pitch} + i % ${vectors}] = keys[(head * ${M} + there) * ${vectors} + i % ${vectors}];
        }
        barrier();
% end
        const uint column = block + lane;
        if (column < ${M}) {
            float sum = 0.0;
            for (uint d = 0; d < ${vectors}; d += ${c.unroll}) {
% for u = 0, c.unroll - 1 do
%   local other = c.keys == "shared" and "key[lane * " .. pitch or "keys[(head * " .. M .. " + column) * " .. vectors
                sum += ${product("query[row * " .. vectors .. " + d + " .. u .. "]", other .. " + d + " .. u .. "]")};
% end
            }
            score[row * ${M} + column] = ${scale} * sum;
            largest = max(largest, ${scale} * sum);
        }
% if c.keys == "shared" then
        barrier();
% end
    }

    const float top = largest_of_row(largest);
    float sum = 0.0;
    for (uint column = lane; column < ${M}; column += ${c.lanes}) {
        const float e = exp(score[row * ${M} + column] - top);
        score[row * ${M} + column] = e;
        sum += e;
    }
    const float whole = sum_of_row(sum);
    if (first_row + row < ${N})
        for (uint column = lane; column < ${M}; column += ${c.lanes})
            scores[(head * ${N} + first_row + row) * ${M} + column] = score[row * ${M} + column] / whole;
}

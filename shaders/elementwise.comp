#version 450
// Y = ${op.kind == "copy" and "X" or op.apply} over ${grid.columns} vectors of ${c.vector}, ${grid.each} an invocation.
% local formula, applied = "x", "copy"
% if op.kind ~= "copy" then
%   local function text(value) return glsl.literal("f32", value) end
%   local formulas = {
%     relu = "max(x, 0.0)", sigmoid = "1.0 / (1.0 + exp(-x))",
%     leaky = "max(x, 0.0) + " .. text(op.slope) .. " * min(x, 0.0)",
%     clamp = "clamp(x, " .. text(op.low) .. ", " .. text(op.high) .. ")",
%     tanh = "1.0 - 2.0 / (exp(2.0 * x) + 1.0)", -- overflows to the right result
%     add = "x + z", sub = "x - z", mul = "x * z", div = "x / z", max = "max(x, z)", min = "min(x, z)",
%     gelu = "0.5 * x * (1.0 + error(x * 0.70710678))", erf = "error(x)",
%     gelu_tanh = "x / (1.0 + exp(-1.59576912 * (x + 0.044715 * x * x * x)))", -- (1 + tanh y) / 2 = 1 / (1 + exp(-2 y))
%     silu = "x / (1.0 + exp(-x))",
%     mish = "x * part(exp(min(x, 20.0)))",
%     elu = "max(x, 0.0) + " .. text(op.slope) .. " * (exp(min(x, 0.0)) - 1.0)",
%     selu = "1.05070099 * max(x, 0.0) + 1.75809934 * (exp(min(x, 0.0)) - 1.0)",
%     celu = "max(x, 0.0) + " .. text(op.slope) .. " * (exp(min(x, 0.0) / " .. text(op.slope) .. ") - 1.0)",
%     hardsigmoid = "clamp(" .. text(op.slope) .. " * x + " .. text(op.low) .. ", 0.0, 1.0)",
%     hardswish = "x * clamp(x / 6.0 + 0.5, 0.0, 1.0)",
%     softplus = "max(x, 0.0) + log(1.0 + exp(-abs(x)))", softsign = "x / (1.0 + abs(x))",
%     exp = "exp(x)", log = "log(x)", sqrt = "sqrt(x)", reciprocal = "1.0 / x", abs = "abs(x)", neg = "-x",
%     floor = "floor(x)", ceil = "ceil(x)", round = "roundEven(x)", sign = "sign(x)",
%   }
%   applied, formula = op.apply, formulas[op.apply]
% end
% for _, name in ipairs(glsl.extensions(result)) do
#extension ${name} : require
% end
${glsl.encoder(result)}

layout(local_size_x = ${grid.x}, local_size_y = ${grid.y}) in;

layout(std430, set = 0, binding = ${op.bindings.X}) restrict readonly buffer BufferX { ${stored} buffer_x[]; };
% if op.bindings.Y == 2 then -- of two
layout(std430, set = 0, binding = ${op.bindings.Z}) restrict readonly buffer BufferZ { ${stored} buffer_z[]; };
% end
layout(std430, set = 0, binding = ${op.bindings.Y}) restrict writeonly buffer BufferY { ${glsl.vector(result, c.vector)} buffer_y[]; };

% if applied == "gelu" or applied == "erf" then -- Abramowitz and Stegun 7.1.26: off by 1.5e-7 at most
${number} error(${number} x)
{
    const ${number} t = 1.0 / (1.0 + 0.3275911 * abs(x));
    const ${number} p = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
    return sign(x) * (1.0 - p * exp(-x * x));
}

% elseif applied == "mish" then
${number} part(${number} w) // tanh(log(1 + w))
{
    const ${number} n = w * (w + 2.0);
    return n / (n + 2.0);
}

% end
void apply(uint at)
{
    if (at >= ${grid.columns}u)
        return;
    const ${number} x = ${number}(buffer_x[at]);
% if op.bindings.Y == 2 then
    const ${number} z = ${number}(buffer_z[at]);
% end
    buffer_y[at] = ${result == op.type and stored .. "(" .. formula .. ")" or glsl.converted("x", "f32", result, c.vector)};
}

void main()
{
    const uint block = gl_WorkGroupID.y * ${grid.groups[1]}u + gl_WorkGroupID.x;
    const uint first = block * ${grid.width}u + gl_LocalInvocationID.x;
% for i = 0, grid.each - 1 do
    apply(first + ${i * grid.x}u);
% end
}

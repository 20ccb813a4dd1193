#version 450
// Y = ${op.kind == "copy" and "X" or op.apply} over ${grid.columns} vectors of ${c.vector}, ${grid.each} an invocation.
% local formula
% if op.kind == "copy" then formula = "x"
% elseif op.apply == "relu" then formula = "max(x, 0.0)"
% elseif op.apply == "leaky" then formula = "max(x, 0.0) + " .. glsl.literal("f32", op.slope) .. " * min(x, 0.0)"
% elseif op.apply == "clamp" then formula = "clamp(x, " .. glsl.literal("f32", op.low) .. ", " .. glsl.literal("f32", op.high) .. ")"
% elseif op.apply == "sigmoid" then formula = "1.0 / (1.0 + exp(-x))"
% elseif op.apply == "tanh" then formula = "1.0 - 2.0 / (exp(2.0 * x) + 1.0)" -- overflows to the right result
% elseif op.apply == "add" then formula = "x + z"
% elseif op.apply == "sub" then formula = "x - z"
% else formula = "x * z" end
% for _, name in ipairs(glsl.extensions(op.type)) do
#extension ${name} : require
% end

layout(local_size_x = ${grid.x}, local_size_y = ${grid.y}) in;

layout(std430, set = 0, binding = ${op.bindings.X}) restrict readonly buffer BufferX { ${stored} buffer_x[]; };
% if op.bindings.Y == 2 then -- of two
layout(std430, set = 0, binding = ${op.bindings.Z}) restrict readonly buffer BufferZ { ${stored} buffer_z[]; };
% end
layout(std430, set = 0, binding = ${op.bindings.Y}) restrict writeonly buffer BufferY { ${stored} buffer_y[]; };

void apply(uint at)
{
    if (at >= ${grid.columns}u)
        return;
    const ${number} x = ${number}(buffer_x[at]);
% if op.bindings.Y == 2 then
    const ${number} z = ${number}(buffer_z[at]);
% end
    buffer_y[at] = ${stored}(${formula});
}

void main()
{
    const uint block = gl_WorkGroupID.y * ${grid.groups[1]}u + gl_WorkGroupID.x;
    const uint first = block * ${grid.width}u + gl_LocalInvocationID.x;
% for i = 0, grid.each - 1 do
    apply(first + ${i * grid.x}u);
% end
}

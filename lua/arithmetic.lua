-- Whole numbers that plans of kernels are made of.

local arithmetic = {}

function arithmetic.ceil_div(a, b) return (a + b - 1) // b end

-- The greatest common divisor of positive numbers.
function arithmetic.gcd(a, b)
  while b > 0 do a, b = b, a % b end
  return a
end

-- The largest divisor of n that is at most `limit`, and at least 1.
function arithmetic.divisor(n, limit)
  for d = math.min(n, limit), 2, -1 do
    if n % d == 0 then return d end
  end
  return 1
end

-- The widest vector (4, 2 or 1 elements) that divides each of the numbers; what is 0 is divided by any.
function arithmetic.widest(...)
  local width = 4
  for _, n in ipairs { ... } do
    while n % width ~= 0 do width = width // 2 end
  end
  return width
end

-- Whether n divides each of the numbers.
function arithmetic.divides(n, ...)
  for _, number in ipairs { ... } do
    if number % n ~= 0 then return false end
  end
  return true
end

-- A product of positive integers that does not wrap: 2^62 stands for all that is larger.
function arithmetic.product(...)
  local product = 1
  for _, factor in ipairs { ... } do
    product = product <= (1 << 62) // factor and product * factor or 1 << 62
  end
  return product
end

return arithmetic

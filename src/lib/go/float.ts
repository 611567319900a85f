/** A double as Go's `%v` prints it: the shortest digits, with an exponent of two digits below 0.0001 and from 1e+06 on. */
export function printGoFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [mantissa = "", power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

import { daysOfMonth } from "../../../base/util/days-of-month.ts";

const DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;
const TIME = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[^\n][0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/u;

/** Upstream: `strfmt.IsDate`: a full-date of RFC 3339 with a valid day. */
export function isDate(text: string): boolean {
  const [, year = "", month = "", day = ""] = DATE.exec(text) ?? [];
  if (year === "" || Number(month) < 1 || Number(month) > 12 || Number(day) < 1) return false;
  return Number(day) <= daysOfMonth(Number(year), Number(month));
}

/**
 * Upstream: `strfmt.IsDateTime`. Compat: `strfmt.IsDateTime` ignores everything after a second "t", and any character
 * begins a fraction.
 */
export function isDateTime(text: string): boolean {
  const [date = "", time] = text.toLowerCase().split("t", 2);
  if (time === undefined || !isDate(date)) return false;
  const [, hours = "", minutes = "", seconds = ""] = TIME.exec(time) ?? [];
  return hours !== "" && hours <= "23" && minutes <= "59" && seconds <= "59";
}

import { spendOnText } from "../cost/work.ts";

/** The number of code points of a text, which is its size in CEL. */
export function lengthOf(text: string): number {
  spendOnText(text, "whole");
  if (!HIGH_SURROGATE.test(text)) return text.length;
  spendOnText(text, "each");
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff && i + 1 < text.length) {
      const next = text.charCodeAt(i + 1);
      if (next >= 0xdc00 && next <= 0xdfff) {
        count--;
        i++;
      }
    }
  }
  return count;
}

const HIGH_SURROGATE = /[\ud800-\udbff]/;

/** Compares texts by code points, like Go compares strings by their UTF-8 bytes. */
export function compareText(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let length = 0;
  while (length < shorter && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  spendOnText({ length }, "each");
  if (length < shorter) return rank(a.charCodeAt(length)) < rank(b.charCodeAt(length)) ? -1 : 1;
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
}

/** Surrogates, which encode code points above U+FFFF, sort after all other units. */
const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

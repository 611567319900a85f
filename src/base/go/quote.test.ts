import assert from "node:assert/strict";
import { test } from "node:test";
import { quote } from "./quote.ts";

test("quotes strings like Go's %q", () => {
  const quoted: Record<string, string> = {
    "plain, with spaces": '"plain, with spaces"',
    'say "a\\b"': '"say \\"a\\\\b\\""',
    "\0\u0007\b\t\n\v\f\r\u001b\u007f": '"\\x00\\a\\b\\t\\n\\v\\f\\r\\x1b\\x7f"',
    "\\u0001": '"\\\\u0001"',
    "é世😀": '"é世😀"',
    "é\u0085\u00a0\u200b\u2028\ufeff": '"é\\u0085\\u00a0\\u200b\\u2028\\ufeff"',
    "\u{e0001} ": '"\\U000e0001 "',
  };
  for (const [text, expected] of Object.entries(quoted)) assert.equal(quote(text), expected);
  assert.equal(quote("\0".repeat(1_000_000)), `"${"\\x00".repeat(1_000_000)}"`);
});

const MAX_TOTAL = 4096;
const MAX_EACH_WHEN_LONG = 256;

/**
 * Values of `Warning` headers for these texts, in order. Repeated texts and texts with control characters are left
 * out. When all texts together are too long, each is cut, and those beyond the budget are dropped.
 */
export function printWarnings(texts: readonly string[]): string[] {
  const unique = [...new Set(texts)].filter((text) => text !== "");
  const runes = unique.map((text) => [...text]);
  const total = runes.reduce((sum, each) => sum + each.length, 0);
  if (total <= MAX_TOTAL) return unique.flatMap(printWarning);
  return cutWarnings(runes).flatMap(printWarning);
}

// Compat: like upstream's `recorder.AddWarning`, beyond `truncateAtTotalRunes` every Warning is cut to
// `truncateItemRunes`, the earlier ones too; later ones are sent while room is left.
function cutWarnings(runes: readonly (readonly string[])[]): string[] {
  const cut: string[] = [];
  let whole = 0;
  let written = 0;
  for (const each of runes) {
    const isOverflow = whole > MAX_TOTAL;
    if (isOverflow && written >= MAX_TOTAL) break;
    whole += each.length;
    const kept = each.slice(0, MAX_EACH_WHEN_LONG);
    written += kept.length;
    cut.push(kept.join(""));
  }
  return cut;
}

function printWarning(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not come through
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) return [];
  const value = `299 - "${text.replace(/["\\]/g, "\\$&")}"`;
  // Headers are written byte by byte; characters beyond ASCII travel as their UTF-8 bytes.
  return [Buffer.from(value, "utf8").toString("latin1")];
}

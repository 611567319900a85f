const MAX_TOTAL = 4096;
const MAX_EACH_WHEN_LONG = 256;

/**
 * Values of `Warning` headers for these texts, in order. Duplicates and texts with control characters are dropped. If
 * the total length is too large, each is truncated, and those beyond the limit are dropped.
 */
export function printWarnings(texts: readonly string[]): string[] {
  const unique = [...new Set(texts)].filter((text) => text !== "");
  let total = 0;
  for (const text of unique) {
    total += firstRunes(text).length;
    // Stops early, because there may be a hundred thousand texts.
    if (total > MAX_TOTAL) return cutWarnings(unique).flatMap(printWarning);
  }
  return unique.flatMap(printWarning);
}

/** At least as many characters of a text as are ever counted. */
const firstRunes = (text: string): string[] => [...text.slice(0, 2 * (MAX_TOTAL + 1))];

// Compat: like upstream's `recorder.AddWarning`, above `truncateAtTotalRunes` every Warning is truncated to
// `truncateItemRunes`, including the earlier ones. Later ones are sent while there is room.
function cutWarnings(texts: readonly string[]): string[] {
  const cut: string[] = [];
  let whole = 0;
  let written = 0;
  for (const text of texts) {
    const isOverflow = whole > MAX_TOTAL;
    if (isOverflow && written >= MAX_TOTAL) break;
    const runes = firstRunes(text);
    whole += runes.length;
    const kept = runes.slice(0, MAX_EACH_WHEN_LONG);
    written += kept.length;
    cut.push(kept.join(""));
  }
  return cut;
}

function printWarning(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not come through
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) return [];
  const value = `299 - "${text.replace(/["\\]/g, "\\$&")}"`;
  // Headers are written byte by byte, so characters beyond ASCII are sent as their UTF-8 bytes.
  return [Buffer.from(value, "utf8").toString("latin1")];
}

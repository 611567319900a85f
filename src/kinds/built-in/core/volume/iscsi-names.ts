const HEAD = /iqn\.\d{4}-\d{2}\.[0-9A-Za-z\-.]+(:?)/g;
const NOT_IN_TAIL = ",;*&$|\t\n\f\r ";

/** Whether a name matches upstream's pattern `iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`, in one pass. */
export function isQualifiedIscsiName(name: string): boolean {
  let tail = name.length;
  while (tail > 0 && !NOT_IN_TAIL.includes(name.charAt(tail - 1))) tail--;
  // A head that begins within another one ends at the same position.
  for (const { 0: head, 1: colon, index } of name.matchAll(HEAD)) {
    const end = index + head.length;
    if (colon !== "" && end >= tail && end < name.length) return true;
  }
  return false;
}

import { getMember } from "../util/members.ts";

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const STAGES: Readonly<Record<string, number>> = { alpha: 1, beta: 2 };

/** Newer and more stable versions first: v2, v1, v2beta1, v1beta2, v1alpha1, then other names in alphabetical order. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [VERSION.exec(a), VERSION.exec(b)];
  if (first === null || second === null) {
    if (first !== null || second !== null) return first === null ? 1 : -1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  const stage = (match: RegExpExecArray): number => getMember(STAGES, match[2] ?? "") ?? 3;
  return (
    stage(second) - stage(first) ||
    Number(second[1]) - Number(first[1]) ||
    Number(second[3] ?? 0) - Number(first[3] ?? 0)
  );
}

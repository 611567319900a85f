import { startMs } from "./importance.ts";
import type { Candidate } from "./victims.ts";

/** Makes all priorities positive, so that more Pods never sum up to less. */
const OFFSET = 2 ** 31;

/** Higher is better. The next function decides among equals. */
const SCORES: readonly ((candidate: Candidate, nowMs: number) => number)[] = [
  ({ violations }) => -violations,
  ({ victims }) => -(victims[0]?.priority ?? 0),
  ({ victims }) => -victims.reduce((sum, { priority }) => sum + priority + OFFSET, 0),
  ({ victims }) => -victims.length,
  ({ victims }, nowMs) => {
    const most = victims.filter(({ priority }) => priority === victims[0]?.priority);
    return most.reduce((earliest, pod) => Math.min(earliest, startMs(pod, nowMs)), Number.POSITIVE_INFINITY);
  },
];

/** The node where preemption does the least harm. Upstream: pickOneNodeForPreemption */
export function pickCandidate(candidates: readonly Candidate[], nowMs: number): Candidate | undefined {
  let left = candidates;
  for (const scoreOf of SCORES) {
    if (left.length <= 1) break;
    const scores = left.map((candidate) => scoreOf(candidate, nowMs));
    const highest = scores.reduce((high, score) => Math.max(high, score), Number.NEGATIVE_INFINITY);
    left = left.filter((_, index) => scores[index] === highest);
  }
  return left[0];
}

const LINE = /"Calculated node's final score for pod" pod="([^"]+)" node="([^"]+)" score=(\d+)/;

/** The scores that the real scheduler logs, by Pod (`namespace/name`), then by node. */
export class LoggedScores {
  readonly #byPod = new Map<string, Map<string, number>>();
  #rest = "";

  /** Reads a part of the log. */
  read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, pod, node, score] = LINE.exec(line) ?? [];
      if (pod === undefined || node === undefined) continue;
      const scores = this.#byPod.get(pod) ?? new Map<string, number>();
      this.#byPod.set(pod, scores.set(node, Number(score)));
    }
  }

  /** Empty if only one node was possible. */
  of(pod: string): ReadonlyMap<string, number> {
    return this.#byPod.get(pod) ?? new Map();
  }
}

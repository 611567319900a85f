import { selectControllers } from "../../controllers/controller.ts";
import { MANAGER_CONTROLLERS } from "../../controllers/manager-controllers.ts";
import { MANAGER_LOOPS } from "../../server/manager-loops.ts";

/** What happens in a control plane by itself, and what does not although users of clusters expect it. */
export interface Activity {
  /** The loops of kube-controller-manager that run. */
  readonly runs: readonly string[];
  /** What does not happen. */
  readonly missing: readonly string[];
}

/** Derived from the loops that `--controllers` picks; there is neither a scheduler nor a kubelet in any case. */
export function activityOf(controllers: string): Activity {
  const runs = selectControllers(MANAGER_LOOPS, controllers).map(({ name }) => name);
  const missing = MANAGER_CONTROLLERS.flatMap(({ name, without }) =>
    without === undefined || runs.includes(name) ? [] : [without],
  );
  return { runs, missing: ["no scheduler and no kubelet, so Pods stay Pending", ...missing] };
}

const WIDTH = 110;
const INDENT = " ".repeat(14);

/** The same in words. */
export function describeActivity(controllers: string): string {
  const { runs, missing } = activityOf(controllers);
  const shown = runs.map((name) => name.replace(/-controller$/, ""));
  const more = "The real kube-controller-manager beside it would do that; all of it: binnacle controllers.";
  return [
    wrap("Runs in it:   ", runs.length === 0 ? ["no controller"] : shown, ", "),
    wrap("Does not run: ", together(missing), "; "),
    `${INDENT}${more}`,
  ].join("\n");
}

/** Of several what is true of each: "Jobs make no Pods" and "ReplicaSets make no Pods" are one sentence. */
function together(sentences: readonly string[]): string[] {
  const subjects = new Map<string, string[]>();
  for (const sentence of sentences) {
    const [, subject = "", predicate = sentence] = /^(\w+(?: \w+)?) ((?:make|keep) .*)$/.exec(sentence) ?? [];
    subjects.set(predicate, [...(subjects.get(predicate) ?? []), subject]);
  }
  const list = new Intl.ListFormat("en-GB");
  return [...subjects].map(([predicate, some]) => `${list.format(some)} ${predicate}`.trimStart());
}

/** Items in lines of a width that terminals have, below each other. */
function wrap(title: string, items: readonly string[], separator: string): string {
  const lines: string[] = [];
  let line = "";
  for (const [at, item] of items.entries()) {
    const part = at === items.length - 1 ? item : `${item}${separator}`;
    if (line !== "" && INDENT.length + line.length + part.length > WIDTH) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += part;
  }
  return `${title}${[...lines, line].join(`\n${INDENT}`)}`;
}

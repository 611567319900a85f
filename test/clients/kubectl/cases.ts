import type { JsonObject } from "../../../src/base/api/object.ts";

/** A part of kubectl's work, named as the Kubernetes project's own script about it. */
export interface Area {
  readonly name: string;
  readonly cases: readonly Case[];
}

/** Commands that follow each other, in a namespace and a folder of their own. */
export interface Case {
  readonly title: string;
  /** Files by name: text as it is, objects as JSON. A name with a slash is in a folder; text that begins with `#!` is a program. */
  readonly files?: Readonly<Record<string, FileContent>>;
  readonly steps: readonly Step[];
}

/** What stands in a file or comes by standard input: text, an object, or several as documents. */
export type FileContent = string | JsonObject | readonly JsonObject[];

/** A command line of kubectl, or one with what is special about it. */
export type Step = string | CommandStep | ProxyStep;

/**
 * A command line of kubectl. `%{namespace}`, `%{directory}`, `%{server}`, `%{token}` and what earlier steps kept are filled in,
 * in the input and in the environment as well.
 */
export interface CommandStep {
  readonly run: string;
  readonly input?: FileContent;
  readonly env?: Readonly<Record<string, string>>;
  /** The name under which later steps find what it writes. */
  readonly keep?: string;
  /** The file into which it writes instead of being compared. */
  readonly into?: string;
  /** What is compared of the output. */
  readonly compare?: View;
  /** Steps that are taken while the command runs: once it has written `ready`, or at once. */
  readonly meanwhile?: readonly Step[];
  readonly ready?: string;
  /** The command is ended when it has written this, and compared up to there. */
  readonly until?: string;
}

/**
 * Of the output: everything, made-up values aside; the lines or words in any order, where Go, several requests at once or the clock decide it;
 * only the lines of structure (`explain`, whose texts are our own); only the requests that kubectl logs; or nothing but the exit code.
 */
export type View = "all" | "lines" | "words" | "structure" | "requests" | "code";

/** `kubectl proxy` with these arguments, and what it answers to requests for paths. */
export interface ProxyStep {
  readonly proxy: string;
  readonly paths: readonly string[];
}

/** What a step came to: made-up values stand as words in it. */
export interface Answer {
  /** The step as it is written. */
  readonly step: string;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a step is named in recordings and reports. */
export function nameOf(step: Step): string {
  if (typeof step === "string") return step;
  return "proxy" in step ? `proxy ${step.proxy}` : step.run;
}

/** The steps of a case in the order in which their answers come: what is done meanwhile stands after its command. */
export function* stepsOf(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    if (typeof step !== "string" && "meanwhile" in step) yield* stepsOf(step.meanwhile ?? []);
  }
}

/** Who wrote fields of an object: the order is that of the seconds in which they did. */
export function managersOf(object: string): CommandStep {
  return {
    run: `get ${object} --show-managed-fields -o jsonpath={.metadata.managedFields[*].manager}`,
    compare: "words",
  };
}

import type { Json, JsonObject, KubeObject } from "../../api/object.ts";
import type { UserInfo } from "../../api/user-info.ts";
import type { Rule } from "../../types/admission-registration.ts";

/** A write as functions of admission see it: an AdmissionRequest of admission.k8s.io, and what they may do about it. */
export interface AdmissionCall<Kind extends JsonObject = KubeObject> {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  /** Empty: the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** Empty when a name is still to be generated. */
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** `mutate` may change it. Undefined for DELETE. */
  readonly object: Kind | undefined;
  /** What is stored. Undefined for CREATE. */
  readonly oldObject: Kind | undefined;
  readonly options: { readonly [member: string]: Json | undefined } | undefined;
  /** Sends the client a Warning header. */
  warn(text: string): void;
}

/**
 * What a file of `--admission` exports, or a program gives to its server: functions about the writes that its rules name. All writes of objects are meant
 * without rules.
 */
export interface AdmissionModule {
  readonly rules?: readonly Rule[];
  /** Changes `request.object`, or gives the object that shall take its place. */
  mutate?(request: AdmissionCall): KubeObject | undefined | Promise<KubeObject | undefined>;
  /** Gives the reason why the write is refused, or nothing. */
  validate?(request: AdmissionCall): string | undefined | Promise<string | undefined>;
}

/** What a module without rules is asked about: every write of an object. */
export const ALL_WRITES: readonly Rule[] = [
  { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] },
];

/** The two functions that a module may have. */
export type FunctionName = "mutate" | "validate";

/** What is told of a write before one knows whether anybody wants to see it. */
export type SentCall = Omit<AdmissionCall, "warn">;

/** What a function has said. */
export interface FunctionOutcome {
  /** What `mutate` made of the object. */
  readonly object?: KubeObject | undefined;
  /** Why `validate` refuses. */
  readonly refusal?: string | undefined;
  readonly warnings: readonly string[];
}

/** Runs the functions of one module, wherever that is. */
export interface FunctionHost {
  /** The file, as messages name it. */
  readonly title: string;
  readonly rules: readonly Rule[];
  readonly functions: readonly FunctionName[];
  /** Rejects with FunctionFailure. */
  run(name: FunctionName, call: SentCall): Promise<FunctionOutcome>;
}

/** A function has failed, rather than said no. The message names it, its file and the line. */
export class FunctionFailure extends Error {}

import type { Json, JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import type { Rule } from "../../../kinds/types/admission-registration.ts";

/** A write as admission functions see it: an AdmissionRequest of admission.k8s.io with `warn`. */
export interface AdmissionCall<Kind extends JsonObject = KubeObject> {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** Empty if the name is yet to be generated. */
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** `mutate` may change it. Undefined for DELETE. */
  readonly object: Kind | undefined;
  /** The stored object. Undefined for CREATE. */
  readonly oldObject: Kind | undefined;
  readonly options: { readonly [member: string]: Json | undefined } | undefined;
  /** Sends a Warning header to the client. */
  warn(text: string): void;
}

/**
 * Exports of a file of `--admission`, or functions given by the embedding program. They apply to the writes that
 * `rules` match. Default: all writes of objects.
 */
export interface AdmissionModule {
  readonly rules?: readonly Rule[];
  /** Changes `request.object`, or returns an object that replaces it. */
  mutate?(request: AdmissionCall): KubeObject | undefined | Promise<KubeObject | undefined>;
  /** Returns the reason to reject the write, or undefined to allow it. */
  validate?(request: AdmissionCall): string | undefined | Promise<string | undefined>;
}

/** Default rules of a module: every write of an object. */
export const ALL_WRITES: readonly Rule[] = [
  { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] },
];

/** The functions that a module may export. */
export type FunctionName = "mutate" | "validate";

/** The serializable part of an AdmissionCall. */
export type SentCall = Omit<AdmissionCall, "warn">;

/** Result of a function. */
export interface FunctionOutcome {
  /** The object after `mutate`. */
  readonly object?: KubeObject | undefined;
  /** Why `validate` rejects the write. */
  readonly refusal?: string | undefined;
  readonly warnings: readonly string[];
}

/** Runs the functions of one module, in this or another thread. */
export interface FunctionHost {
  /** Name of the module in messages. */
  readonly title: string;
  readonly rules: readonly Rule[];
  readonly functions: readonly FunctionName[];
  /** Rejects with FunctionFailure. */
  run(name: FunctionName, call: SentCall): Promise<FunctionOutcome>;
}

/** A function failed, as opposed to rejecting a write. The message names the function, its file and the line. */
export class FunctionFailure extends Error {}

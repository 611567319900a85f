import type { AdmissionTrace } from "../../base/api/admission-trace.ts";
import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { Reinvocation } from "./reinvocation.ts";

/** A write on its way to the store. Upstream: `admission.Attributes`. */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  /** The resource of the path, regardless of the subresource. */
  readonly resource: ServedResource;
  readonly subresource: string;
  /**
   * The type of `object` and `previous`: the resource itself, or the type of the subresource, such as Scale. In the
   * latter case only its kind, apiVersion and schema are meaningful.
   */
  readonly body: ServedResource;
  readonly namespace: string;
  /** Empty if the name is yet to be generated, and for deletecollection. */
  readonly name: string;
  /** Whether the client left the name of a new object to the server. `name` may be set by now. */
  readonly isNameless?: boolean | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /**
   * The object to be stored. In the version of the request during mutating admission, in the stored version during
   * validating admission; `inVersion` converts it. Undefined for DELETE.
   */
  readonly object: KubeObject | undefined;
  /** The stored object (oldObject). Undefined for CREATE and CONNECT. */
  readonly previous: KubeObject | undefined;
  /** Whether `object` may hold empty lists and maps that will not be stored (`Draft.holdsEmpties`). */
  readonly holdsEmpties?: boolean | undefined;
  /** CreateOptions, UpdateOptions or DeleteOptions; undefined for CONNECT. Upstream: `GetOperationOptions`. */
  options(): JsonObject | undefined;
  /** State of the second round of mutating admission. Created by the first plugin that needs it. */
  reinvocation?: Reinvocation | undefined;
  /** Sends a Warning header. */
  warn(text: string): void;
  /**
   * Adds an annotation to the audit event. Absent if the request is not audited. With `showsObject`, the annotation is
   * kept only if the policy's level includes the object.
   */
  readonly annotate?: ((key: string, value: string, showsObject?: boolean) => void) | undefined;
  /** Aborts when the client no longer waits for the response. */
  readonly signal?: AbortSignal | undefined;
  /** Records what each plugin does. Absent unless an explanation was requested. */
  readonly trace?: AdmissionTrace | undefined;
  /** Deadline of the request, by the clock's `monotonic`. */
  readonly deadlineMs?: number | undefined;
}

/** An admission plugin: changes or rejects writes. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Whether the plugin applies to a request. Called for every write, so it must be fast. */
  handles(request: AdmissionRequest): boolean;
  /** May change request.object. Rejects the request by throwing an ApiError. */
  mutate?(request: AdmissionRequest): Promise<void>;
  /** Must not change anything. Rejects the request by throwing an ApiError. */
  validate?(request: AdmissionRequest): Promise<void>;
}

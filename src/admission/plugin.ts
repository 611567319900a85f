import type { AdmissionTrace } from "../api/admission-trace.ts";
import type { JsonObject, KubeObject } from "../api/object.ts";
import type { UserInfo } from "../api/user-info.ts";
import type { ServedResource } from "../resources/model/catalog.ts";
import type { Reinvocation } from "./reinvocation.ts";

/** One write on its way to the store: upstream's `admission.Attributes`. */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  /** The resource of the path, whatever its subresource speaks. */
  readonly resource: ServedResource;
  readonly subresource: string;
  /**
   * What `object` and `previous` are: the resource itself, or what its subresource speaks, such as a Scale. Only its kind,
   * apiVersion and shape mean something then.
   */
  readonly body: ServedResource;
  readonly namespace: string;
  /** Empty when a name is still to be generated, and when a whole collection is deleted. */
  readonly name: string;
  /** Whether the client left the name of a new object to the server. It may have one by now. */
  readonly isNameless?: boolean | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /**
   * The object to be stored: in the request's version while it may be changed, in the stored version when it is
   * judged; `inVersion` shows it in any version. Undefined for DELETE.
   */
  readonly object: KubeObject | undefined;
  /** The stored object (oldObject). Undefined for CREATE and CONNECT. */
  readonly previous: KubeObject | undefined;
  /** Whether `object` may hold empty lists and maps that will not be stored (`Draft.holdsEmpties`). */
  readonly holdsEmpties?: boolean | undefined;
  /** Upstream's `GetOperationOptions`: CreateOptions, UpdateOptions or DeleteOptions; undefined for CONNECT. */
  options(): JsonObject | undefined;
  /** What mutating plugins tell each other about a second round; made by the first that has something to tell. */
  reinvocation?: Reinvocation | undefined;
  /** Sends a Warning header. */
  warn(text: string): void;
  /**
   * Adds an annotation to the audit event. Absent: nobody keeps any. One that shows parts of the object is kept only where
   * the object is kept, too.
   */
  readonly annotate?: ((key: string, value: string, showsObject?: boolean) => void) | undefined;
  /** Aborts when nobody waits for the outcome any more. */
  readonly signal?: AbortSignal | undefined;
  /** Hears what becomes of the request, step by step. Absent: nobody wants to have it explained. */
  readonly trace?: AdmissionTrace | undefined;
  /** Until when the request must be answered, by the clock's `monotonic`. */
  readonly deadlineMs?: number | undefined;
}

/** An admission plugin: changes or refuses writes. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Asked for every write, and answers at once. */
  handles(request: AdmissionRequest): boolean;
  /** May change request.object. Refuses by throwing an ApiError. */
  mutate?(request: AdmissionRequest): Promise<void>;
  /** Must not change anything; refuses by throwing an ApiError. */
  validate?(request: AdmissionRequest): Promise<void>;
}

import type { KubeObject } from "../api/object.ts";
import type { UserInfo } from "../api/user-info.ts";
import type { ServedResource } from "../resources/model/catalog.ts";

/** One write on its way to the store: upstream's `admission.Attributes`. */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly resource: ServedResource;
  readonly subresource: string;
  readonly namespace: string;
  /** Empty when a name is still to be generated. */
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /**
   * The object to be stored: in the request's version while it may be changed, in the stored version when it is
   * judged. Undefined for DELETE.
   */
  readonly object: KubeObject | undefined;
  /** The stored object (oldObject). Undefined for CREATE. */
  readonly previous: KubeObject | undefined;
  /** Sends a Warning header. */
  warn(text: string): void;
  /** Adds an annotation to the audit event. Absent: nobody keeps any. */
  readonly annotate?: ((key: string, value: string) => void) | undefined;
}

/** An admission plugin: changes or refuses writes. */
export interface AdmissionPlugin {
  readonly name: string;
  handles(request: AdmissionRequest): boolean;
  /** May change request.object. Refuses by throwing an ApiError. */
  mutate?(request: AdmissionRequest): Promise<void>;
  /** Must not change anything; refuses by throwing an ApiError. */
  validate?(request: AdmissionRequest): Promise<void>;
}

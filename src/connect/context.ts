import type { Authorizer } from "../api/attributes.ts";
import type { FeatureGates } from "../api/feature-gates.ts";
import type { HttpClient } from "../client/http-client.ts";
import type { Clock } from "../lib/clock.ts";
import type { KubeletClient } from "./kubelet-client.ts";
import type { StreamObserver } from "./observer.ts";
import type { TargetContext } from "./proxy-targets.ts";

/** What connecting depends on. */
export interface ConnectContext extends TargetContext {
  readonly features: FeatureGates;
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  readonly client: KubeletClient;
  /** For everything but kubelets. */
  readonly http: HttpClient;
  readonly observer: StreamObserver;
}

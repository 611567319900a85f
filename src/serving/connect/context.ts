import type { Authorizer } from "../../base/api/attributes.ts";
import type { FeatureGates } from "../../base/api/feature-gates.ts";
import type { HttpClient } from "../../base/net/http-client.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { KubeletClient } from "./kubelet-client.ts";
import type { StreamObserver } from "./observer.ts";
import type { TargetContext } from "./proxy-targets.ts";

/** Dependencies of connecting subresources. */
export interface ConnectContext extends TargetContext {
  readonly features: FeatureGates;
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  readonly client: KubeletClient;
  /** Client for backends other than kubelets. */
  readonly http: HttpClient;
  readonly observer: StreamObserver;
}

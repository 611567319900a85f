import type { Authenticator } from "../../access/authentication/authenticator.ts";
import type { SigningKey } from "../../access/authentication/service-accounts/keys.ts";
import type { Stage } from "../../base/api/call.ts";
import type { ContainerImages } from "../../cluster/nodes/behaviour/container-images.ts";
import type { NodeConnections } from "../../cluster/nodes/node-connections.ts";
import type { Store } from "../../storage/store.ts";
import type { Identity } from "../server/identity.ts";

/** Parts that replace those that the server would create. */
export interface GivenParts {
  /** Replaces the configured store. It has its own clock, and is closed with the server. */
  readonly store?: Store;
  /** Replaces the certificates and tokens of `certDir`. */
  readonly identity?: Identity;
  /** Replaces the configured signing key of service-account tokens. */
  readonly accountKey?: SigningKey;
  /** Authenticates additional tokens. */
  readonly tokens?: Authenticator;
  /** Additional pipeline stages of every request. */
  readonly stages?: {
    /** Before all others. */
    readonly outermost: Stage;
    /** After authentication. */
    readonly identified: Stage;
  };
  /**
   * Whether this is one of many servers in a process, on a store that already has the objects of a new cluster. It does not create
   * them, does not announce itself, and has no process metrics.
   */
  readonly isGuest?: boolean;
  /** What containers on simulated nodes do. Replaces those of the configuration. */
  readonly images?: ContainerImages;
  /** Which simulated nodes are cut off. */
  readonly connections?: NodeConnections;
  /** Whether requests to webhooks and extension API servers are disabled. */
  readonly isOffline?: boolean;
  /** Whether the store may lack objects of the cluster that it stands for. */
  readonly isPartial?: boolean;
}

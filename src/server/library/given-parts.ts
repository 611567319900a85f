import type { Stage } from "../../api/call.ts";
import type { Authenticator } from "../../auth/authenticator.ts";
import type { SigningKey } from "../../auth/service-accounts/keys.ts";
import type { Store } from "../../storage/store.ts";
import type { Identity } from "../identity.ts";

/** Parts that take the place of those that a server would make by itself. */
export interface GivenParts {
  /** Instead of the configured one. It keeps its own clock, and is closed with the server. */
  readonly store?: Store;
  /** Instead of what `certDir` holds, or what is made anew without it. */
  readonly identity?: Identity;
  /** Signs tokens of service accounts, instead of the configured key. */
  readonly accountKey?: SigningKey;
  /** Knows further tokens. */
  readonly tokens?: Authenticator;
  /** Stages that every request passes besides the usual ones. */
  readonly stages?: {
    /** Around all others. */
    readonly outermost: Stage;
    /** Behind those that find out who is calling. */
    readonly identified: Stage;
  };
  /**
   * One of many servers in a process, on a store in which everything is that a server writes at its start: it neither
   * writes that again nor tells others that it is there, and has no metrics of the process.
   */
  readonly isGuest?: boolean;
  /** No other server is asked: neither webhooks nor what is behind APIServices. */
  readonly isOffline?: boolean;
}

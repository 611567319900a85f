/** Who handles a stream: the node, which is sent what the client sent, or this server for it. */
export type StreamRoute = "proxied_to_kubelet" | "translated_at_apiserver";

/** Hears what becomes of streams and logs. */
export interface StreamObserver {
  /** A request for `attach`, `exec` or `portforward` has found its node. */
  routed(subresource: string, route: StreamRoute): void;
  /** A WebSocket that was translated to SPDY has ended. */
  translated(code: number): void;
  /** A WebSocket was tunnelled to SPDY, or not. */
  tunnelled(code: number): void;
  /** Somebody asks for a log. */
  logAsked(skipsVerification: boolean): void;
  /** A node's certificate was not believed when a log was asked for. */
  logUnverified(): void;
}

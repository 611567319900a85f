/** Where a stream is handled: passed through to the kubelet, or translated by this server. */
export type StreamRoute = "proxied_to_kubelet" | "translated_at_apiserver";

/** Receives events of streams and logs, for metrics. */
export interface StreamObserver {
  /** A request for `attach`, `exec` or `portforward` has been routed. */
  routed(subresource: string, route: StreamRoute): void;
  /** A WebSocket translated to SPDY has ended. */
  translated(code: number): void;
  /** The result of tunnelling a WebSocket to SPDY. */
  tunnelled(code: number): void;
  /** A log was requested. */
  logAsked(skipsVerification: boolean): void;
  /** The kubelet's certificate could not be verified for a log request. */
  logUnverified(): void;
}

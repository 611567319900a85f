import type { MetricRegistry } from "../../base/metrics/metrics.ts";
import type { StreamObserver } from "./observer.ts";

/** Counts streams and logs under kube-apiserver's metric names. */
export function streamMetrics(registry: MetricRegistry): StreamObserver {
  const translated = registry.counter({
    name: "apiserver_stream_translator_requests_total",
    help: "[ALPHA] Total number of requests that were handled by the StreamTranslatorProxy, which processes streaming RemoteCommand/V5",
    labels: ["code"],
  });
  const tunnelled = registry.counter({
    name: "apiserver_stream_tunnel_requests_total",
    help: "[ALPHA] Total number of requests that were handled by the StreamTunnelProxy, which processes streaming PortForward/V2",
    labels: ["code"],
  });
  const routed = registry.counter({
    name: "apiserver_websocket_streaming_requests_total",
    help: "[ALPHA] Total number of WebSocket streaming requests (exec/attach/portforward) routed by the API server, labeled by subresource and proxy_type. proxy_type is proxied_to_kubelet when the kubelet handles the request directly; otherwise translated_at_apiserver.",
    labels: ["proxy_type", "subresource"],
  });
  const logs = registry.counter({
    name: "kube_apiserver_pod_logs_insecure_backend_total",
    help: "[ALPHA] Total number of requests for pods/logs sliced by usage type: enforce_tls, skip_tls_allowed, skip_tls_denied",
    labels: ["usage"],
  });
  const unverified = registry.counter({
    name: "kube_apiserver_pod_logs_backend_tls_failure_total",
    help: "[ALPHA] Total number of requests for pods/logs that failed due to kubelet server TLS verification",
    labels: [],
  });
  // Compat: `NewCounter`, a counter without labels, is exposed from the start.
  unverified.of({}).add(0);
  return {
    routed: (subresource, route) => routed.of({ proxy_type: route, subresource }).add(),
    translated: (code) => translated.of({ code: String(code) }).add(),
    tunnelled: (code) => tunnelled.of({ code: String(code) }).add(),
    logAsked: (skips) => logs.of({ usage: skips ? "skip_tls_allowed" : "enforce_tls" }).add(),
    logUnverified: () => unverified.of({}).add(),
  };
}

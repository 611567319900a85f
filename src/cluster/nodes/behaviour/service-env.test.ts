import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Service, ServiceSpec } from "../../../kinds/types/service.ts";
import { serviceEnv } from "./service-env.ts";

const service = (name: string, spec: ServiceSpec): Service => ({ metadata: { name }, spec }) as Service;

suite("environment variables of Services", () => {
  test("name the address and all ports", () => {
    const ports = [
      { name: "http", port: 80, protocol: "TCP" },
      { name: "dns-udp", port: 53, protocol: "UDP" },
    ];
    assert.deepEqual(serviceEnv([service("my-web", { clusterIP: "10.0.0.7", ports })]), {
      MY_WEB_SERVICE_HOST: "10.0.0.7",
      MY_WEB_SERVICE_PORT: "80",
      MY_WEB_SERVICE_PORT_HTTP: "80",
      MY_WEB_SERVICE_PORT_DNS_UDP: "53",
      MY_WEB_PORT: "tcp://10.0.0.7:80",
      MY_WEB_PORT_80_TCP: "tcp://10.0.0.7:80",
      MY_WEB_PORT_80_TCP_PROTO: "tcp",
      MY_WEB_PORT_80_TCP_PORT: "80",
      MY_WEB_PORT_80_TCP_ADDR: "10.0.0.7",
      MY_WEB_PORT_53_UDP: "udp://10.0.0.7:53",
      MY_WEB_PORT_53_UDP_PROTO: "udp",
      MY_WEB_PORT_53_UDP_PORT: "53",
      MY_WEB_PORT_53_UDP_ADDR: "10.0.0.7",
    });
  });

  test("put IPv6 addresses of URLs in brackets", () => {
    const { V6_PORT, V6_SERVICE_HOST } = serviceEnv([service("v6", { clusterIP: "fd00::1", ports: [{ port: 1 }] })]);
    assert.deepEqual([V6_PORT, V6_SERVICE_HOST], ["tcp://[fd00::1]:1", "fd00::1"]);
  });

  test("leave out Services without an address", () => {
    const ports = [{ port: 80 }];
    assert.deepEqual(serviceEnv([service("a", { clusterIP: "None", ports }), service("b", { ports })]), {});
  });
});

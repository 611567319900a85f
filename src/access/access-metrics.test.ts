import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricRegistry } from "../base/metrics/metrics.ts";
import { authenticationMetrics } from "../serving/metrics/authentication-metrics.ts";
import { alwaysAllow } from "./authorization/always.ts";
import { authorizationMetrics, webhookMetrics } from "./authorization/authorization-metrics.ts";

const linesOf = (registry: MetricRegistry, part: string) =>
  Buffer.from(registry.bytes())
    .toString()
    .split("\n")
    .filter((line) => line.includes(part) && !line.startsWith("#"));

test("counts users under few label values, whatever their names are", () => {
  const registry = new MetricRegistry();
  const { authenticated } = authenticationMetrics(registry);
  for (let index = 0; index < 1000; index++) authenticated("success", `user-${index}`, 0.001);
  authenticated("success", "admin", 0.001);
  authenticated("success", "a@example.com", 0.001);
  authenticated("failure", "", 0.001);
  assert.deepEqual(linesOf(registry, "authenticated_user_requests").sort(), [
    'authenticated_user_requests{username="admin"} 1',
    'authenticated_user_requests{username="email_id"} 1',
    'authenticated_user_requests{username="other"} 1000',
  ]);
  assert.deepEqual(linesOf(registry, "authentication_attempts").sort(), [
    'authentication_attempts{result="failure"} 1',
    'authentication_attempts{result="success"} 1002',
  ]);
});

test("counts token verifications while they run, and by result", () => {
  const registry = new MetricRegistry();
  const { requested, fetching } = authenticationMetrics(registry);
  requested(true, 0);
  fetching(1);
  fetching(1);
  fetching(-1, true);
  requested(false, 0.01);
  assert.deepEqual(linesOf(registry, "token_cache_request_total").sort(), [
    'authentication_token_cache_request_total{status="hit"} 1',
    'authentication_token_cache_request_total{status="miss"} 1',
  ]);
  assert.deepEqual(linesOf(registry, "token_cache_fetch_total"), [
    'authentication_token_cache_fetch_total{status="ok"} 1',
  ]);
  assert.ok(
    linesOf(registry, "active_fetch_count").includes(
      'authentication_token_cache_active_fetch_count{status="in_flight"} 1',
    ),
  );
});

test("counts decisions by authorizer, and requests by result", () => {
  const registry = new MetricRegistry();
  const { decided, authorized } = authorizationMetrics(registry);
  decided({ type: "RBAC", name: "rbac", authorizer: alwaysAllow }, "allow");
  authorized({ decision: "allow", error: "a role is missing" }, 0.001);
  authorized({ decision: "noOpinion", error: "down" }, 0.001);
  authorized({ decision: "noOpinion" }, 0.001);
  authorized({ decision: "deny" }, 0.001);
  webhookMetrics(registry).failedOpen("w", "timeout");
  assert.deepEqual(linesOf(registry, "decisions_total"), [
    'apiserver_authorization_decisions_total{decision="allowed",name="rbac",type="RBAC"} 1',
  ]);
  assert.deepEqual(linesOf(registry, "authorization_attempts_total").sort(), [
    'authorization_attempts_total{result="allowed"} 1',
    'authorization_attempts_total{result="denied"} 1',
    'authorization_attempts_total{result="error"} 1',
    'authorization_attempts_total{result="no-opinion"} 1',
  ]);
  assert.deepEqual(linesOf(registry, "fail_open_total"), [
    'apiserver_authorization_webhook_evaluations_fail_open_total{name="w",result="timeout"} 1',
  ]);
});

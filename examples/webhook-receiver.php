<?php
// Receives webhooks: verifies the signature, answers, then does its work. Run by: WEBHOOK_KEY=... php -S 127.0.0.1:4000 webhook-receiver.php
function isOurs(string $body): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!preg_match('/^\d{1,12}$/D', $timestamp) || abs(time() - (int) $timestamp) >= 300) {
        return false;
    }
    $mac = hash_hmac('sha256', "$id.$timestamp.$body", getenv('WEBHOOK_KEY'), true);
    $expected = 'v1,' . base64_encode($mac);
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $entry) {
        if (hash_equals($expected, $entry)) {
            return true;
        }
    }
    return false;
}

header('content-type: application/json');
$body = file_get_contents('php://input');
if (!isOurs($body)) {
    http_response_code(401);
    echo json_encode(['error' => 'Invalid webhook key']);
    return;
}
echo json_encode(['received' => true]);
$event = json_decode($body, true);
error_log("{$_SERVER['HTTP_WEBHOOK_ID']} {$event['event']} {$event['data']['short_url']}");

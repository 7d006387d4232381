<?php // PHP 8: php verify.php SECRET SIGNATURE < body
function verify(string $rawBody, string $header, string $secret): bool {
    $fields = explode(',', $header);
    $at = preg_match('/^t=(\d+)$/', $fields[0], $match) ? $match[1] : null;
    if ($at === null || abs(time() - (int) $at) > 300) return false;
    $expected = hash_hmac('sha256', "$at.$rawBody", $secret);
    foreach ($fields as $field) {
        if (str_starts_with($field, 'v1=') && hash_equals($expected, substr($field, 3))) return true;
    }
    return false;
}
exit(verify(file_get_contents('php://stdin'), $argv[2], $argv[1]) ? 0 : 1);

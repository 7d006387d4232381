/** One line of the doctor's report. */
export interface Finding {
  /** What was looked at: `outbound-port`, `ptr`, `dkim`, ... */
  check: string
  /** Of what: an address, a domain, a host. */
  subject: string
  state: 'ok' | 'warn' | 'fail'
  found: string
  /** What to do about it: the exact record or command. Empty when all is well. */
  fix: string
}

/** The findings of one subject; `found` first, then the fix. */
export function findingsOf(check: string, subject: string) {
  const make =
    (state: Finding['state']) =>
    (found: string, fix = ''): Finding => ({ check, subject, state, found, fix })
  return { ok: make('ok'), warn: make('warn'), fail: make('fail') }
}

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { packageFile } from '../config/index.js'
import type { Pages } from '../http/index.js'
import { isCarefulForm } from './careful.js'
import type { SignupForm } from './form.js'

// A quarter of a million hashes take a phone a second. Each address needs its own work, so that a list of them costs
// time.
export const workBits = 18

/** The script that does the work in a browser. */
export function addWorkScript(pages: Pages): void {
  const read = () => readFileSync(packageFile('src/forms/views/work.js'))
  pages.file('/form-work.js', { read, contentType: 'text/javascript; charset=utf-8' })
}

/** The work that a form's page asks for; undefined: none, while the form is not careful. */
export const workOf = (form: SignupForm, now: number): number | undefined =>
  isCarefulForm(form, now) ? workBits : undefined

/**
 * Whether a browser has worked for this address on this page. The challenge is the form's own stamp, so nothing has to
 * be stored.
 */
export function hasWorked(stamp: string, email: string, work: string): boolean {
  if (!/^\d{1,12}$/.test(work)) return false
  const text = `${stamp} ${email.trim().toLowerCase()} ${work}`
  const hash = createHash('sha256').update(text).digest()
  return Math.clz32(hash.readUInt32BE(0)) >= workBits
}

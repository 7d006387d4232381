import { integer, table, text } from './table.js'

/** A finding of the doctor's last examination. */
const doctorFindings = table('doctor_findings', {
  id: integer().numberedKey(),
  at: integer(),
  check: text(),
  subject: text(),
  state: text<'ok' | 'warn' | 'fail' | 'unchecked'>(),
  found: text(),
  fix: text(),
})

export const doctorTables = [doctorFindings] as const

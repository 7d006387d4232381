import { storedObject } from '../../store/index.js'
import type { RunContact } from '../definition/index.js'

/** What rules and templates may read of a contact; other tables may be joined to `contacts`. */
export const contactColumns = [
  ...(['contacts.id', 'email', 'first_name as firstName', 'last_name as lastName'] as const),
  ...(['phone', 'metadata', 'created_at as createdAt'] as const),
] as const

/** A contact as `contactColumns` read it, with its metadata still as JSON. */
export interface RunContactRow extends Omit<RunContact, 'metadata'> {
  metadata: string | null
}

/** A contact as the steps of a run see it. */
export const contactOf = ({ metadata, ...contact }: RunContactRow): RunContact => ({
  metadata: storedObject(metadata),
  ...contact,
})

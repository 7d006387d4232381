import type { Named } from '../contract/index.js'
import { type Field, pathId } from '../fields/index.js'

const about = 'The UUID of the list'

/** What the paths of a list's contacts name. */
export const membersOf: Named<{ listId: Field<string> }> = {
  params: { listId: pathId(about) },
  about: { listId: about },
  notFound: 'The account has no contact list with this id',
  when: 'The account has no such list',
}

import type { PageLook } from './answer.js'
import type { Html } from './html.js'
import type { NavigationView } from './navigation.js'
import { render } from './render.js'
import { builtOf, drawing, staticPath } from './static-files.js'

/** What is shown around a page. */
export interface PageSurroundings {
  navigation: NavigationView[]
  /** The owner of these pages: an account's name or 'Operator'; undefined without a session. */
  place: { name: string; href: string } | undefined
  /** Where else this person may go. */
  others: { name: string; href: string }[]
  person: { name: string; email: string; timeZone: string | null } | undefined
  /** The message of the last POST. */
  flash: string | undefined
  /** The person only looks at an account that is not theirs. */
  viewingAs: boolean
  sandbox: boolean
}

/** Around a page without a session: no navigation and no name. */
export const nowhere: PageSurroundings = {
  navigation: [],
  place: undefined,
  others: [],
  person: undefined,
  flash: undefined,
  viewingAs: false,
  sandbox: false,
}

/** A whole document around the content of a page. */
export function layout(
  content: Html,
  { title, faults, editor, steps, wide }: PageLook,
  around: PageSurroundings,
  nonce?: string,
): string {
  const named = [title, around.place?.name, 'Posthorn'].filter((part) => part !== undefined)
  mark ??= drawing('icon.svg')
  return render('shell/layout', {
    ...around,
    content,
    operates: around.others.some(({ href }) => href === '/operator'),
    // An account's overview must not be called 'Acme · Acme'.
    title: [...new Set(named)].join(' · '),
    faults: faults && {
      message: faults.message,
      fields: Object.entries(faults.fields).map(([name, message]) => {
        const { id = `field-${name}`, label = '', isNameless } = faults.places?.get(name) ?? {}
        return { id, message: isNameless && label !== '' ? `${label}: ${message}` : message }
      }),
    },
    wide: wide === true,
    styleSheet: staticPath('posthorn.css'),
    icon: staticPath('icon.svg'),
    mark,
    scripts: builtOf([
      'posthorn.js',
      ...(editor === true ? ['editor.js'] : []),
      ...(steps === true ? ['steps.js'] : []),
    ]).map(staticPath),
    nonce,
  }).text
}

// Read once in a process.
let mark: Html | undefined

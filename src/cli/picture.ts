import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type Command, Option } from 'commander'
import { shownBytes } from '../amounts/index.js'
import * as operations from '../pictures/contract.js'
import {
  addPicture,
  deletePicture,
  listPictures,
  requirePicture,
  shownPicture,
  wholePicture,
} from '../pictures/index.js'
import { answeringWith, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { accountOption } from './database.js'
import { givenTo } from './given.js'
import { say, sayTable, shownTime } from './output.js'
import { type CommandPlace, settingsOf } from './place.js'
import { plansOf } from './plan.js'

/** Where pictures are served, and how many there may be. */
const settingsFor = (place: CommandPlace) => ({
  publicUrl: settingsOf(place).http.public.url,
  plans: plansOf(place),
})

type PictureCommandDeps = CommandDeps & ReturnType<typeof settingsFor>

/** `posthorn picture`: the pictures of an account's mails. */
export function pictureCommands(program: Command): void {
  const picture = program
    .command('picture')
    .description('pictures for mails, which it serves itself')
  addCommands(picture, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    does: operations.listPictures,
    about: 'show the pictures of an account, the newest first',
    options: [
      accountOption(),
      new Option('--cursor <cursor>', 'the nextCursor of the page before, as --json has it'),
    ],
    help: 'Example:\n  $ posthorn picture list',
    run: answeringWith(settingsFor, list),
  },
  {
    usage: 'add <file>',
    does: operations.addPicture,
    about: 'add a picture and show its address',
    options: [
      accountOption(),
      new Option('--alt <text>', 'what it shows, for people who do not see it'),
    ],
    help: `The file is a PNG, JPEG, GIF or WebP of at most 5 MiB. Where and by what it was taken is removed.

Example:
  $ posthorn picture add books.jpg --alt 'Three new books on a table'`,
    run: answeringWith(settingsFor, add),
  },
  {
    usage: 'delete <id>',
    does: operations.deletePicture,
    about: 'delete a picture that no campaign or template shows any more',
    options: [...askOptions(), accountOption()],
    help: 'Example:\n  $ posthorn picture delete 01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
    run: answeringWith(settingsFor, remove),
  },
]

async function list(
  { store: { read }, account, publicUrl }: PictureCommandDeps,
  { cursor }: { cursor?: string },
) {
  const found = await listPictures(read, (await account()).id, { cursor, limit: 100 })
  const { page, hasMore, nextCursor } = found
  const pictures = page.map((one) => shownPicture(one, publicUrl))
  return {
    json: { pictures, hasMore, nextCursor },
    say: () =>
      sayTable(
        ['ID', 'NAME', 'PIXELS', 'SIZE', 'ADDED', 'ADDRESS'],
        pictures.map((one) => [
          one.id,
          one.name,
          `${one.width} x ${one.height}`,
          shownBytes(one.size),
          shownTime(Date.parse(one.createdAt)),
          one.url,
        ]),
        "No picture yet; 'posthorn picture add FILE' adds one",
      ),
  }
}

async function add(deps: PictureCommandDeps, file: string, { alt }: { alt?: string }) {
  const bytes = readFileSync(file)
  const picture = await wholePicture(bytes)
  const content = bytes.toString('base64')
  const { name } = givenTo(operations.addPicture, { name: basename(file), alt, content })
  const made = await addPicture(deps, (await deps.account()).id, { picture, name, alt })
  const json = shownPicture(made, deps.publicUrl)
  return { json, say: () => say(`The picture "${made.name}" is added: ${json.url}`) }
}

async function remove(deps: PictureCommandDeps, id: string, options: AskOptions) {
  const { id: accountId } = await deps.account()
  const { name, sizeBytes } = await requirePicture(deps.store.read, accountId, id)
  const intent: Intent = {
    to: `delete the picture "${name}"`,
    facts: ['Mails that were sent with it do not show it any more'],
    counts: { id, bytes: sizeBytes },
    how: 'mild',
  }
  if (!(await confirmed(deps.place, options, intent))) return
  await deletePicture(deps, accountId, id)
  return {
    json: { message: 'Picture deleted' },
    say: () => say(`The picture "${name}" is deleted`),
  }
}

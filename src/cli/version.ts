import type { Command } from 'commander'
import { packageVersion } from '../config/index.js'
import { say, sayJson } from './output.js'

export function versionCommand(program: Command): void {
  program
    .command('version')
    .description('print the version of Posthorn and of Node')
    .action((_options, command: Command) => {
      const version = packageVersion()
      if (command.optsWithGlobals().json) sayJson({ version, node: process.versions.node })
      else say(`posthorn ${version} (Node ${process.versions.node})`)
    })
}

// The database backend of the client. No published package has it at this version, so it comes from a checkout of the
// client's sources at tag dsh-v0.1.1-rc.2; what it imports is resolved to the packages of this folder.
import { registerHooks } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Context } from '@deepseek-ai/cordis'
import SessionStore from '@deepseek-ai/dsh-session'
import { hostOver } from './client.mjs'

/** The backend's module. Node must run with --experimental-transform-types. */
export async function loadBackend(checkout) {
  const root = pathToFileURL(resolve(checkout)).href
  registerHooks({
    resolve(name, context, next) {
      const ours = context.parentURL?.startsWith(root) && /^[@a-z]/.test(name) && !/^(node|file):/.test(name)
      return next(name, ours ? { ...context, parentURL: import.meta.url } : context)
    },
  })
  return import(pathToFileURL(join(resolve(checkout), 'packages/session/session-persistence-sqlite/src/index.ts')).href)
}

/** One host over one database, with the same members as one over a folder. */
export async function openDatabase(backend, path, journalMode) {
  const ctx = new Context()
  await ctx.plugin(SessionStore)
  const fiber = await ctx.plugin(backend.default, { path, journalMode })
  return hostOver(ctx, fiber)
}

/* For tests under Wine only; never part of a release.
 *
 * Rust's standard library takes its random numbers from ProcessPrng in bcryptprimitives.dll, which
 * every Windows since 7 has, Wine only since 9 (Debian 12 comes with 8): without it no Rust program
 * starts there. This is that one function, over the generator Wine does have. tools/windows builds
 * it and lets Wine find it.
 */
#include <windows.h>
#include <ntsecapi.h> /* RtlGenRandom, exported by advapi32.dll as SystemFunction036 */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length)
{
    while (length > 0) {
        ULONG part = length > 1 << 20 ? 1 << 20 : (ULONG)length;
        if (!RtlGenRandom(data, part))
            return FALSE;
        data += part;
        length -= part;
    }
    return TRUE;
}

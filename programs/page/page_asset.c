/*
 * Puts the page that the build packed into the program, byte for byte, through the assembler: as C
 * text it would be five times its size and slow to compile. Fed by web/pack_page.c, with
 * DPMF_PAGE_FILE naming what it wrote.
 */
#include "page/page_asset.h"

#ifdef DPMF_PAGE_FILE

#if __SIZEOF_SIZE_T__ == 8
#define SIZE_WORD ".quad"
#else
#define SIZE_WORD ".long"
#endif

/* NOLINTNEXTLINE(hicpp-no-assembler): it holds no instructions */
__asm__(".pushsection .rodata\n"
        ".global page_asset\n"
        ".hidden page_asset\n"
        ".type page_asset, %object\n"
        ".balign 16\n"
        "page_asset:\n"
        ".incbin \"" DPMF_PAGE_FILE "\"\n"
        "page_asset_end:\n"
        ".size page_asset, page_asset_end - page_asset\n"
        ".global page_asset_size\n"
        ".hidden page_asset_size\n"
        ".type page_asset_size, %object\n"
        ".balign 8\n"
        "page_asset_size:\n" SIZE_WORD " page_asset_end - page_asset\n"
        ".size page_asset_size, . - page_asset_size\n"
        ".popsection\n");

#else

const unsigned char page_asset[] = "";
const size_t page_asset_size = 0;

#endif

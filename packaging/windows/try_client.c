/*
 * Opens what client.sh put into this folder, and says what is not as it should be. Names are UTF-8,
 * whatever the system's own encoding is.
 */
#include <stdio.h>

#include <dpmf_client.h>

static int tries(const char *path, int wanted) {
    struct dpmf_model *model = NULL;
    struct dpmf_error error = {0};
    const int code = dpmf_model_open(path, &model, &error);
    dpmf_model_close(model);
    if (code == wanted && (code < 0) == (error.message[0] != '\0')) return 0;
    printf("%s: %s\n", path, code < 0 ? error.message : "opened");
    return 1;
}

int main(void) {
    int wrong = tries("release.safetensors", 0);
    wrong += tries("f\xc3\xbcr-\xc5\x81ukasz.safetensors", 0);
    wrong += tries("none.safetensors", DPMF_ERR_IO_MISSING);
    wrong += tries("f\xfcr.safetensors", DPMF_ERR_IO_MISSING);
    wrong += tries("folder.safetensors", DPMF_ERR_IO_PERMISSION); /* as Windows calls it */
    wrong += tries("cut.safetensors", DPMF_ERR_MODEL_CORRUPT);
    wrong += tries("mine.csv", DPMF_ERR_MODEL_NOT_A_MODEL);
    return wrong > 0;
}

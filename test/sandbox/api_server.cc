#include "test/sandbox/api_server.h"
